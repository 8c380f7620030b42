"""Time requests to `retrograde serve`, as other programs make them: python benchmarks/serve.py [VARIANT …]

For each variant, solved first where it is not, requests for positions of random play to a server on this machine: by
one client that waits for each answer, the same again, and by 16 clients at once. A request for a path that there is not
is the reference. At last what a person waits for: until a new server listens, and for its first answers of each kind.
"""

import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import httpx

from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.solver.play.match import random_position
from retrograde.solver.play.solution import Solution

COMMAND = [sys.executable, "-m", "retrograde.cli"]
VARIANTS = ["tictactoe", "connect4:5,4", "lgame", "chess:KRK"]
REQUESTS, CLIENTS = 500, 16


def times(url: str, paths: list[str]) -> list[float]:
    """Return the milliseconds that requests take, one after another."""
    taken = []
    with httpx.Client(base_url=url, timeout=60) as client:
        for path in paths:
            began = time.perf_counter()
            client.get(path)
            taken.append(1000 * (time.perf_counter() - began))
    return taken


def report(name: str, url: str, paths: list[str], reference: float) -> None:
    first, again = (sorted(times(url, paths)) for _ in range(2))
    row = [median(first), first[len(first) * 99 // 100], median(again), median(again) / reference]
    print(f"{name:44} {row[0]:7.2f} {row[1]:7.2f} {row[2]:7.2f} {row[3]:7.1f}", flush=True)


FIRST = ["/?v={0}", "/api/game?variant={0}", "/api/position?variant={0}&line=true", "/api/gallery"]
"""What the page asks for first."""
STARTS = 5


def first_answers(variant: str) -> None:
    """Print how long it takes until a new server listens, and for the first answers that it gives."""
    rows = []
    for _ in range(STARTS):
        began = time.perf_counter()
        server = subprocess.Popen([*COMMAND, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout
            url = server.stdout.readline().split()[0]
            listening = 1000 * (time.perf_counter() - began)
            rows.append([listening, *times(url, [path.format(variant) for path in FIRST])])
        finally:
            server.terminate()
            server.wait()
    for name, taken in zip(["a server listens", *FIRST], zip(*rows, strict=True), strict=True):
        print(f"{name.format(variant):44} {median(taken):7.0f}   ms, the first time", flush=True)


def main() -> None:
    variants = sys.argv[1:] or VARIANTS
    for text in variants:
        subprocess.run([*COMMAND, "solve", text], check=True, capture_output=True)
    server = subprocess.Popen([*COMMAND, "serve", *variants, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        url = server.stdout.readline().split()[0]
        reference = median(times(url, ["/nothing/at/all"] * 200)[50:])
        print(f"{'':44} {'median':>7} {'99 %':>7} {'again':>7} {'ratio':>7}   ms a request, {REQUESTS} of each")
        report("a request that finds nothing", url, ["/nothing/at/all"] * REQUESTS, reference)
        for text in variants:
            game = load_game(text)
            with Solution(open_database(text)) as solution:
                chance = random.Random(1)
                places = [game.write(random_position(solution, chance)) for _ in range(REQUESTS)]
                variant = solution.database.file.variant
            name, _, options = variant.partition(":")
            query = httpx.QueryParams
            paths = [f"/{name}/{options or 'regular'}/positions/?{query(p=place)}" for place in places]
            report(variant, url, paths, reference)
            paths = [f"/api/position?{query(variant=variant, position=place)}" for place in places]
            report(f"{variant}, with its picture", url, paths, reference)
        with ThreadPoolExecutor(CLIENTS) as clients:
            began = time.perf_counter()
            together = list(clients.map(lambda _: times(url, paths[: REQUESTS // 4]), range(CLIENTS)))
            count, spent = sum(map(len, together)), time.perf_counter() - began
        print(f"{CLIENTS} clients at once: {count / spent:.0f} requests a second")
    finally:
        server.terminate()
        server.wait()
    first_answers(variants[0])


if __name__ == "__main__":
    main()
