/* Pig to GOAL points by value iteration in place: the probability that the player to move wins, from an even score.

   There is no proof: the iteration stops when no value changes by more than 1e-13. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 100;
    /* p[i][j][k]: the mover has i points, the opponent j, and the turn total is k. */
    double *p = calloc((size_t)goal * goal * goal, sizeof *p), change = 1;
#define P(i, j, k) ((i) + (k) >= goal ? 1.0 : p[((size_t)(i) * goal + (j)) * goal + (k)])
    while (change > 1e-13) {
        change = 0;
        for (int i = goal - 1; i >= 0; i--)
            for (int j = goal - 1; j >= 0; j--)
                for (int k = goal - 1 - i; k >= 0; k--) {
                    double roll = 1 - P(j, i, 0), hold = 1 - P(j, i + k, 0);
                    for (int r = 2; r <= 6; r++) roll += P(i, j, k + r);
                    roll /= 6;
                    double best = k && hold > roll ? hold : roll, *old = &p[((size_t)i * goal + j) * goal + k];
                    change = fmax(change, fabs(best - *old));
                    *old = best;
                }
    }
    printf("%.9f\n", P(0, 0, 0));
}
