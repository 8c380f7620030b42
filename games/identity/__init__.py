"""What makes two rule modules the same rules: digests, and the rule files that a person trusts.

A database stores the digest of the rules that made it, and is used only with rules of that digest. The steps:

1. `outline.py` and `definitions.py` find the statements that define a class, a member or a constant.
2. `reach.py` follows what these use, through classes and modules, and numbers each thing that it meets.
3. `normal_form.py` turns the statements of each thing into nested tuples, without comments, layout and local imports.
4. `digest.py` hashes all the tuples. If the source does not say what rules use, `whole_modules.py` takes whole files.

`trusted.py` remembers the rule files that a person has solved games with, in a folder of `folders.py`.
"""
