"""Chess databases asked as a tablebase: a folder of endings, of which the men on a board choose the right one."""
