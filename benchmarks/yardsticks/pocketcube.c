/* The pocket cube, breadth first over numbered positions: prints how many positions each distance has. */
#include <stdio.h>
#include <string.h>

enum { PERMUTATIONS = 5040, TWISTS = 729, POSITIONS = PERMUTATIONS * TWISTS };
/* Three faces meet at the seven corners that move; a turn takes the corner on each place from another, and twists it. */
static const int from[3][7] = {{1, 2, 3, 0, 4, 5, 6}, {4, 0, 2, 3, 5, 1, 6}, {0, 5, 1, 3, 4, 6, 2}};
static const int twist[3][7] = {{0, 0, 0, 0, 0, 0, 0}, {1, 2, 0, 0, 2, 1, 0}, {0, 1, 2, 0, 0, 2, 1}};
static int places[3][PERMUTATIONS], twists[3][TWISTS];
static unsigned char distance[POSITIONS];
static int queue[POSITIONS];

static int rank(const int *p) {
    int r = 0;
    for (int i = 0; i < 7; i++) {
        int less = 0;
        for (int j = i + 1; j < 7; j++) less += p[j] < p[i];
        r = r * (7 - i) + less;
    }
    return r;
}

static void unrank(int r, int *p) {
    for (int i = 6; i >= 0; i--) {
        p[i] = r % (7 - i);
        r /= 7 - i;
        for (int j = i + 1; j < 7; j++) p[j] += p[j] >= p[i];
    }
}

int main(void) {
    for (int turn = 0; turn < 3; turn++) {
        for (int r = 0; r < PERMUTATIONS; r++) {
            int p[7], q[7];
            unrank(r, p);
            for (int i = 0; i < 7; i++) q[i] = p[from[turn][i]];
            places[turn][r] = rank(q);
        }
        for (int t = 0; t < TWISTS; t++) {
            int o[7], rest = t, sum = 0, result = 0;
            for (int i = 5; i >= 0; i--) sum += o[i] = rest % 3, rest /= 3;
            o[6] = (21 - sum) % 3;
            for (int i = 0; i < 6; i++) result = 3 * result + (o[from[turn][i]] + twist[turn][i]) % 3;
            twists[turn][t] = result;
        }
    }
    memset(distance, 255, sizeof distance);
    int head = 0, end = 0, far = 0, count = 0;
    distance[0] = 0;
    queue[end++] = 0;
    while (head < end) {
        int one = queue[head++];
        if (distance[one] != far) printf("%d %d\n", far, count), far = distance[one], count = 0;
        count++;
        for (int turn = 0; turn < 3; turn++) {
            int p = one / TWISTS, t = one % TWISTS;
            for (int times = 0; times < 3; times++) { /* a quarter, a half, and a quarter the other way */
                p = places[turn][p], t = twists[turn][t];
                int child = p * TWISTS + t;
                if (distance[child] == 255) distance[child] = distance[one] + 1, queue[end++] = child;
            }
        }
    }
    printf("%d %d\n", far, count);
}
