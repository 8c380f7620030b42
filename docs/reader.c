/* Reads retrograde databases and prints values of positions. It uses only databases/FORMAT.md.

       cc -O2 -o reader reader.c $(pkg-config --cflags --libs hdf5) -lzstd
       ./reader connect4,width=4,height=4.h5 33825
       ./reader chess,KRKN.h5 "8/8/8/3k4/8/8/2n5/K6R w"

   A position is an int, or for chess also a FEN. The program prints one line for each position:

       lose 12             value for the player to move, and plies to the end
       draw
       none                no position, or not reachable, or in another file
       win 9 slot 1234     chess: the slot as well
       win 9 score 3       another metric than remoteness

   Without positions on the command line it reads them from standard input, one per line. `POSITION@TIER` is a canonical
   position of a game whose rules are not below. If the game is stored as steps, it must be a position that needs a step.
   A position of several words has commas between them, as in `7,56@6`, and is always canonical.
   For numbered games other than chess ask for `INDEX@TIER`. For expectations by slot the answer is the bounds of player
   0's expectation, `low -16777216 high -16777210`, in fractions of a point.

   This is an example to learn from, in the order of FORMAT.md: the file, the kinds of storage, the rules of the games. */

#define H5Dread_chunk_vers 1 /* HDF5 2.0 has two versions of H5Dread_chunk */
#include <hdf5.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

typedef uint64_t u64;
typedef int64_t i64;

enum { UNDECIDED, LOSE, DRAW, TIE, WIN };
static const char *VALUES[] = {"undecided", "lose", "draw", "tie", "win"};

static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static void *room(size_t bytes)
{
    void *memory = malloc(bytes + 1);
    if (!memory)
        die("no memory for %zu bytes", bytes);
    return memory;
}

/* Part 1: the file. It has attributes, and datasets whose chunks are zstd frames of shuffled bytes. Small tables are not
   compressed. */

static hid_t file;
static i64 version;

static char *text_of(const char *name)
{
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    if (attribute < 0)
        die("no attribute %s", name);
    hid_t type = H5Aget_type(attribute);
    char *text = room(H5Tget_size(type));
    if (H5Tis_variable_str(type) > 0 || H5Aread(attribute, type, text) < 0)
        die("attribute %s is not as it should be", name);
    text[H5Tget_size(type)] = 0;
    return text;
}

static i64 number_of(const char *name)
{
    i64 number;
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    if (attribute < 0 || H5Aread(attribute, H5T_NATIVE_INT64, &number) < 0)
        die("no attribute %s", name);
    return number;
}

/* Return the number, or 1 for true, under a name in flat JSON. */
static i64 json_number(const char *json, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", name);
    const char *found = strstr(json, quoted);
    if (!found)
        die("no %s in %s", name, json);
    found += strlen(quoted);
    return strncmp(found, "true", 4) == 0 ? 1 : strtoll(found, NULL, 10);
}

typedef struct {
    const char *name;
    hid_t id, type;
    hsize_t length, chunk;
    size_t item;
    int plain;            /* whether it is not compressed */
    i64 *checks;          /* checksum of each chunk, or NULL */
    unsigned char *bytes; /* contents of the chunk that was read last */
    i64 loaded;
} Dataset;

static int has(const char *name) { return H5Lexists(file, name, H5P_DEFAULT) > 0; }

static Dataset open_dataset(const char *name)
{
    Dataset set = {.name = name, .id = H5Dopen(file, name, H5P_DEFAULT), .loaded = -1};
    if (set.id < 0)
        die("no dataset %s", name);
    set.type = H5Dget_type(set.id);
    set.item = H5Tget_size(set.type);
    H5Sget_simple_extent_dims(H5Dget_space(set.id), &set.length, NULL);
    hid_t creation = H5Dget_create_plist(set.id);
    if (H5Pget_chunk(creation, 1, &set.chunk) != 1)
        die("%s has no chunks", name);
    set.plain = H5Pget_nfilters(creation) == 0;
    set.bytes = room(set.chunk * set.item);
    return set;
}

/* CRC-32 as in zip files, bit by bit. */
static uint32_t crc32(const unsigned char *bytes, size_t size)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

/* Read a chunk: decompress its frame, and reassemble items from planes (first bytes of all items, second bytes, …). */
static void load(Dataset *set, i64 number)
{
    if (set->loaded == number)
        return;
    hsize_t offset = number * set->chunk, stored;
    uint32_t filters, check;
    if (H5Dget_chunk_storage_size(set->id, &offset, &stored) < 0 || stored < 4)
        die("%s has no chunk %" PRId64, set->name, number);
    unsigned char *frame = room(stored), *planes = room(set->chunk * set->item);
    if (H5Dread_chunk(set->id, H5P_DEFAULT, &offset, &filters, frame) < 0 || filters)
        die("chunk %" PRId64 " of %s cannot be read", number, set->name);
    size_t size = set->chunk * set->item;
    if (set->plain ? stored != size : ZSTD_decompress(planes, size, frame, stored) != size)
        die("chunk %" PRId64 " of %s is damaged", number, set->name);
    memcpy(&check, frame + stored - 4, 4);
    if (set->plain)
        check = crc32(frame, size);
    if (set->checks && set->checks[number] != check)
        die("chunk %" PRId64 " of %s is not where it belongs", number, set->name);
    if (set->plain)
        memcpy(set->bytes, frame, size);
    for (size_t plane = 0; !set->plain && plane < set->item; plane++)
        for (size_t i = 0; i < set->chunk; i++)
            set->bytes[i * set->item + plane] = planes[plane * set->chunk + i];
    set->loaded = number;
    free(frame);
    free(planes);
}

/* Return a little-endian int. Ints of 4 bytes are signed in tables; `column` sees to that. */
static i64 little(const unsigned char *bytes, size_t size)
{
    u64 number = 0;
    for (size_t i = size; i-- > 0;)
        number = number << 8 | bytes[i];
    return (i64)number;
}

/* Return a column of a table. A table is one chunk. */
static i64 *column(Dataset *set, const char *name)
{
    int member = H5Tget_member_index(set->type, name);
    if (member < 0)
        die("%s has no column %s", set->name, name);
    size_t offset = H5Tget_member_offset(set->type, member);
    hid_t type = H5Tget_member_type(set->type, member);
    size_t size = H5Tget_size(type);
    i64 *numbers = room(set->length * sizeof(i64));
    if (set->length && !set->checks) {
        set->checks = room(sizeof(i64));
        *set->checks = json_number(text_of("checks"), set->name);
    }
    if (set->length)
        load(set, 0);
    for (hsize_t row = 0; row < set->length; row++) {
        numbers[row] = little(set->bytes + row * set->item + offset, size);
        if (size == 4 && H5Tget_sign(type) == H5T_SGN_2)
            numbers[row] = (int32_t)numbers[row];
    }
    return numbers;
}

/* Part 2: storage. `records` are records, slots or steps. All kinds have a legend and tiers. */

#define PLAIN_COLUMNS 5 /* columns of the legend for value and remoteness; the others are measures of another metric */
#define MOST_MEASURES 64

static Dataset legend, tiers, blocks, records;
static i64 *measures[MOST_MEASURES];
static char *measure_names[MOST_MEASURES];
static int measure_count;
#define MOST_WORDS 8

static i64 *values, *remotenesses, *numbers, *firsts, *tier_positions, *tier_masks, *block_positions, *block_masks;
static size_t outcome_size, gap_size, words;

static i64 row_of_tier(i64 tier)
{
    i64 low = 0, high = tiers.length;
    while (low < high) {
        i64 middle = (low + high) / 2;
        if (numbers[middle] < tier)
            low = middle + 1;
        else
            high = middle;
    }
    return low < (i64)tiers.length && numbers[low] == tier ? low : -1;
}

static i64 end_of_tier(i64 row) { return row + 1 < (i64)tiers.length ? firsts[row + 1] : (i64)records.length; }

static i64 outcome_of(i64 record)
{
    load(&records, record / records.chunk);
    i64 row = little(records.bytes + record % records.chunk * records.item, outcome_size);
    if (row >= (i64)legend.length)
        die("an outcome is not in the legend");
    return row;
}

static u64 gap_of(i64 record)
{
    load(&records, record / records.chunk);
    return little(records.bytes + record % records.chunk * records.item + outcome_size, gap_size);
}

/* Return the rank: the bits of a position under a mask, pushed together. */
static u64 rank_under(u64 position, u64 mask)
{
    u64 rank = 0;
    for (int to = 0; mask; mask &= mask - 1, to++)
        rank |= (u64)(position >> __builtin_ctzll(mask) & 1) << to;
    return rank;
}

/* Return the block of a tier's row that may contain the wanted number: the last whose first number is not greater. */
static i64 block_for(i64 row, u64 wanted, const i64 *first_ones)
{
    i64 low = firsts[row] / records.chunk, high = (end_of_tier(row) - 1) / records.chunk;
    while (low < high) {
        i64 middle = (low + high + 1) / 2;
        if ((u64)first_ones[middle] <= wanted)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Look up a canonical position among records. Return its row of the legend, or -1. */
static i64 find_record(u64 position, i64 tier)
{
    i64 row = row_of_tier(tier);
    if (row < 0)
        return -1;
    i64 block = block_for(row, position, block_positions), record = block * records.chunk;
    u64 mask = block_masks[block], first = block_positions[block];
    if (firsts[row] > record)
        record = firsts[row], first = tier_positions[row];
    if ((position ^ first) & ~mask)
        return -1;
    i64 end = (block + 1) * records.chunk;
    if (end > end_of_tier(row))
        end = end_of_tier(row);
    u64 rank = rank_under(first, mask), wanted = rank_under(position, mask);
    while (rank < wanted && ++record < end)
        rank += gap_of(record);
    return record < end && rank == wanted ? outcome_of(record) : -1;
}

/* Look up a canonical position among steps. Return its row of the legend, or -1. */
static i64 find_step(u64 position, i64 tier)
{
    i64 row = row_of_tier(tier);
    if (row < 0 || (position ^ tier_positions[row]) & ~(u64)tier_masks[row])
        return -1;
    u64 wanted = rank_under(position, tier_masks[row]);
    i64 block = block_for(row, wanted, block_positions), step = block * records.chunk; /* ranks */
    u64 rank = block_positions[block];
    if (firsts[row] >= step)
        step = firsts[row], rank = rank_under(tier_positions[row], tier_masks[row]);
    i64 end = (block + 1) * records.chunk, found = -1;
    if (end > end_of_tier(row))
        end = end_of_tier(row);
    for (; step < end && rank <= wanted; rank += ++step < end ? gap_of(step) : 0)
        found = step;
    return found < 0 ? -1 : outcome_of(found);
}

/* Compare the position of a row with another of several words: negative if it is less, positive if it is greater. */
static int compare_row(i64 row, const i64 *wanted)
{
    load(&records, row / records.chunk);
    const unsigned char *word = records.bytes + row % records.chunk * records.item + outcome_size;
    for (size_t k = 0; k < words; k++, word += 8) {
        i64 here = little(word, 8);
        if (here != wanted[k])
            return here < wanted[k] ? -1 : 1;
    }
    return 0;
}

/* Look up a canonical position of several words. Return its row of the legend, or -1. */
static i64 find_words(const i64 *wanted, i64 tier)
{
    i64 row = row_of_tier(tier);
    if (row < 0)
        return -1;
    i64 low = firsts[row], end = end_of_tier(row), high = end;
    while (low < high) { /* the first position that is not less */
        i64 middle = (low + high) / 2;
        if (compare_row(middle, wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && compare_row(low, wanted) == 0 ? outcome_of(low) : -1;
}

/* Part 3: the rules of the games. Tiers and images, and for games stored as steps also moves and ends.

   `images` writes the positions equal by symmetry, the position itself among them, and returns their number. */

typedef struct {
    const char *name;
    i64 (*tier)(u64);
    int (*images)(u64, u64 *);
    int (*primitive)(u64);
    int (*children)(u64, u64 *);
} Game;

static const char *options;

static int alone(u64 position, u64 *images) { return images[0] = position, 1; }
static i64 no_tier(u64 position) { return (void)position, 0; }

static u64 bits_turned(u64 bits, const int *cells, int count)
{
    u64 turned = 0;
    for (int cell = 0; cell < count; cell++)
        turned |= (bits >> cell & 1) << cells[cell];
    return turned;
}

/* Write the target of each cell of a square board under a symmetry, 0 to 7. */
static void turn_board(int size, int symmetry, int *cells)
{
    for (int cell = 0; cell < size * size; cell++) {
        int row = cell / size, line = cell % size, swap = row;
        if (symmetry & 4)
            row = line, line = swap;
        cells[cell] = size * (symmetry & 2 ? size - 1 - row : row) + (symmetry & 1 ? size - 1 - line : line);
    }
}

/* connect4 */

static int width, height, connect;

static u64 column_bits(u64 position, int at) { return position >> at * (height + 1) & ((1ull << (height + 1)) - 1); }
static int stones_in(u64 position, int at) { return 63 - __builtin_clzll(column_bits(position, at)); }

static u64 filled(u64 position)
{
    u64 stones = 0;
    for (int at = 0; at < width; at++)
        stones |= ((1ull << stones_in(position, at)) - 1) << at * (height + 1);
    return stones;
}

static i64 connect4_tier(u64 position) { return filled(position); }

static int connect4_images(u64 position, u64 *images)
{
    images[0] = position;
    images[1] = 0;
    for (int at = 0; at < width; at++)
        images[1] = images[1] << (height + 1) | column_bits(position, at);
    return 2;
}

/* Return the owner of the stone in a cell: 0, 1, or -1 if it is empty or off the board. */
static int stone_at(u64 position, int across, int up)
{
    if (across < 0 || across >= width || up < 0 || up >= stones_in(position, across))
        return -1;
    return column_bits(position, across) >> up & 1;
}

static int connect4_primitive(u64 position)
{
    static const int WAYS[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    int count = __builtin_popcountll(filled(position)), last = 1 - count % 2;
    for (int across = 0; across < width; across++)
        for (int up = 0; up < height; up++)
            for (int way = 0; way < 4; way++) {
                int row = 0;
                while (row < connect && stone_at(position, across + row * WAYS[way][0], up + row * WAYS[way][1]) == last)
                    row++;
                if (row == connect)
                    return LOSE;
            }
    return count == width * height ? TIE : UNDECIDED;
}

static int connect4_children(u64 position, u64 *children)
{
    int count = 0, mover = __builtin_popcountll(filled(position)) % 2;
    for (int at = 0; at < width; at++) {
        int stones = stones_in(position, at);
        u64 guard = 1ull << (at * (height + 1) + stones);
        if (stones < height)
            children[count++] = (position ^ guard) + 2 * guard + (mover ? guard : 0);
    }
    return count;
}

/* tictactoe */

static int size, misere;

static i64 tictactoe_tier(u64 position) { return __builtin_popcountll(position); }

static int tictactoe_images(u64 position, u64 *images)
{
    int cells[25], count = size * size;
    for (int symmetry = 0; symmetry < 8; symmetry++) {
        turn_board(size, symmetry, cells);
        images[symmetry] = bits_turned(position, cells, count) | bits_turned(position >> count, cells, count) << count;
    }
    return 8;
}

static int tictactoe_primitive(u64 position)
{
    int cells = size * size, moved = __builtin_popcountll(position) % 2 ? 0 : cells;
    for (int line = 0; line < 2 * size + 2; line++) {
        int owned = 0;
        for (int i = 0; i < size; i++) {
            int cell = line < size         ? size * line + i
                       : line < 2 * size   ? line - size + size * i
                       : line == 2 * size  ? (size + 1) * i
                                           : (size - 1) * (i + 1);
            owned += position >> (moved + cell) & 1;
        }
        if (owned == size)
            return misere ? WIN : LOSE;
    }
    return __builtin_popcountll(position) == cells ? TIE : UNDECIDED;
}

static int tictactoe_children(u64 position, u64 *children)
{
    int count = 0, cells = size * size, mover = __builtin_popcountll(position) % 2;
    for (int cell = 0; cell < cells; cell++)
        if (!((position | position >> cells) >> cell & 1))
            children[count++] = position | 1ull << (cell + cells * mover);
    return count;
}

/* dodgem, tentozero, mutorere, lgame, hareandhounds */

static i64 dodgem_tier(u64 position) { return 2 * size - 2 - __builtin_popcountll(position & ~(1ull << 2 * size * size)); }
static i64 tentozero_tier(u64 position) { return position; }

static int mutorere_images(u64 position, u64 *images)
{
    int cells[9] = {[8] = 8}, count = 0;
    for (int turn = 0; turn < 8; turn++)
        for (int mirror = 0; mirror < 2; mirror++) {
            for (int point = 0; point < 8; point++)
                cells[point] = (mirror ? 15 - point + turn : point + turn) % 8;
            u64 stones = bits_turned(position, cells, 9) | bits_turned(position >> 9, cells, 9) << 9;
            images[count++] = stones;
            images[count++] = stones | 1 << 18;
        }
    return count;
}

static u64 shapes[48];

static int by_number(const void *one, const void *other)
{
    u64 a = *(const u64 *)one, b = *(const u64 *)other;
    return (a > b) - (a < b);
}

/* List the 48 shapes of an L on the board: three cells in a row, and one beside an end of them. */
static void make_shapes(void)
{
    int cells[16], count = 0;
    for (int symmetry = 0; symmetry < 8; symmetry++) {
        turn_board(4, symmetry, cells);
        for (int row = 0; row < 2; row++)
            for (int line = 0; line < 3; line++) {
                int top = 4 * row + line;
                shapes[count++] =
                    bits_turned(1ull << top | 1ull << (top + 4) | 1ull << (top + 8) | 1ull << (top + 9), cells, 16);
            }
    }
    qsort(shapes, 48, sizeof *shapes, by_number);
}

static u64 shape_turned(u64 number, const int *cells)
{
    u64 turned = bits_turned(shapes[number % 48], cells, 16), at = 0;
    while (shapes[at] != turned)
        at++;
    return at;
}

static int lgame_images(u64 position, u64 *images)
{
    int cells[16], count = 0;
    for (int symmetry = 0; symmetry < 8; symmetry++) {
        turn_board(4, symmetry, cells);
        u64 both = shape_turned(position >> 14 & 63, cells) << 14 | shape_turned(position >> 8 & 63, cells) << 8;
        u64 white = cells[position >> 4 & 15], grey = cells[position & 15];
        for (u64 colour = 0; colour < 2; colour++) {
            images[count++] = colour << 20 | both | white << 4 | grey;
            images[count++] = colour << 20 | both | grey << 4 | white;
        }
    }
    return count;
}

static i64 hareandhounds_tier(u64 position)
{
    static const int COLUMNS[11] = {1, 2, 3, 0, 1, 2, 3, 4, 1, 2, 3};
    i64 sum = 0;
    for (int point = 0; point < 11; point++)
        sum += (position >> point & 1) * COLUMNS[point];
    return sum;
}

static int hareandhounds_images(u64 position, u64 *images)
{
    static const int CELLS[11] = {8, 9, 10, 3, 4, 5, 6, 7, 0, 1, 2};
    images[0] = position;
    images[1] = position >> 22 << 22 | bits_turned(position >> 11, CELLS, 11) << 11 | bits_turned(position, CELLS, 11);
    return 2;
}

static const Game GAMES[] = {
    {"connect4", connect4_tier, connect4_images, connect4_primitive, connect4_children},
    {"tictactoe", tictactoe_tier, tictactoe_images, tictactoe_primitive, tictactoe_children},
    {"dodgem", dodgem_tier, alone, NULL, NULL},
    {"tentozero", tentozero_tier, alone, NULL, NULL},
    {"mutorere", no_tier, mutorere_images, NULL, NULL},
    {"lgame", no_tier, lgame_images, NULL, NULL},
    {"hareandhounds", hareandhounds_tier, hareandhounds_images, NULL, NULL},
};

static const Game *game;
static int is_chess;

/* Choose the rules by the file's attributes. */
static void choose_game(void)
{
    char *name = text_of("game");
    options = text_of("options");
    is_chess = strcmp(name, "chess") == 0;
    for (size_t i = 0; i < sizeof GAMES / sizeof *GAMES; i++)
        if (strcmp(GAMES[i].name, name) == 0)
            game = GAMES + i;
    if (strcmp(name, "connect4") == 0) {
        width = json_number(options, "width");
        height = json_number(options, "height");
        connect = json_number(options, "connect");
    }
    if (strcmp(name, "tictactoe") == 0)
        misere = json_number(options, "misere");
    if (strcmp(name, "tictactoe") == 0 || strcmp(name, "dodgem") == 0)
        size = json_number(options, "size");
    make_shapes();
}

/* Chess: positions. The side that the ending names first is White within a position. */

enum { QUEEN, ROOK, BISHOP, KNIGHT, PAWN, KING, BLACK = 8, NOBODY = 15, EMPTY = -1 };

typedef struct {
    int colours, turn, passed; /* passed: 1 + the file of a pawn that may be captured en passant, or 0 */
    int kings[2], count;
    int codes[3], squares[3]; /* men other than kings, sorted by code, then by square */
} Board;

static int turned(int square, int symmetry)
{
    if (symmetry & 4)
        square = square >> 3 | (square & 7) << 3;
    return square ^ (symmetry & 1 ? 7 : 0) ^ (symmetry & 2 ? 56 : 0);
}

static int is_pawn(int code) { return (code & 7) == PAWN; }

static void sort_men(Board *board)
{
    for (int i = 1; i < board->count; i++)
        for (int j = i; j > 0; j--) {
            int one = board->codes[j - 1] << 6 | board->squares[j - 1], other = board->codes[j] << 6 | board->squares[j];
            if (one > other) {
                board->codes[j - 1] = other >> 6, board->squares[j - 1] = other & 63;
                board->codes[j] = one >> 6, board->squares[j] = one & 63;
            }
        }
}

static u64 packed(const Board *board)
{
    u64 men = 0;
    for (int i = 0; i < 3; i++)
        men = men << 10 | (i < board->count ? board->codes[i] << 6 | board->squares[i] : 1023);
    return (u64)board->colours << 47 | (u64)board->turn << 46 | (u64)board->kings[0] << 40 | (u64)board->kings[1] << 34 |
           men << 4 | board->passed;
}

static Board unpacked(u64 position)
{
    Board board = {.colours = position >> 47 & 1, .turn = position >> 46 & 1, .passed = position & 15,
                   .kings = {position >> 40 & 63, position >> 34 & 63}};
    for (int place = 24; place >= 4; place -= 10)
        if ((position >> place & 1023) != 1023) {
            board.codes[board.count] = position >> (place + 6) & 15;
            board.squares[board.count++] = position >> place & 63;
        }
    sort_men(&board);
    return board;
}

static void mirror(Board *board, int symmetry)
{
    for (int side = 0; side < 2; side++)
        board->kings[side] = turned(board->kings[side], symmetry);
    for (int i = 0; i < board->count; i++)
        board->squares[i] = turned(board->squares[i], symmetry);
    if (board->passed && symmetry & 1)
        board->passed = 9 - board->passed;
    sort_men(board);
}

/* Exchange the sides, so that the other one is White. */
static void exchange(Board *board)
{
    int white = board->kings[0] ^ 56;
    board->kings[0] = board->kings[1] ^ 56, board->kings[1] = white;
    board->colours ^= 1, board->turn ^= 1;
    for (int i = 0; i < board->count; i++)
        board->codes[i] ^= BLACK, board->squares[i] ^= 56;
    sort_men(board);
}

/* Write the name of an ending. Return 1 if the sides must be exchanged for it, 2 if both have the same men, else 0. */
static int name_ending(const int *codes, int count, char *name)
{
    int sides[2][3], sizes[2] = {0, 0}, order = 0;
    for (int i = 0; i < count; i++)
        sides[codes[i] >> 3][sizes[codes[i] >> 3]++] = codes[i] & 7;
    if (sizes[0] == sizes[1])
        for (int i = 0; i < sizes[0] && !order; i++)
            order = sides[0][i] - sides[1][i];
    else
        order = sizes[1] - sizes[0];
    for (int k = 0; k < 2; k++) {
        int side = order > 0 ? 1 - k : k;
        *name++ = 'K';
        for (int i = 0; i < sizes[side]; i++)
            *name++ = "QRBNP"[sides[side][i]];
    }
    *name = 0;
    return order > 0 ? 1 : order == 0 ? 2 : 0;
}

static char endings[512][8];
static int ending_count;

static int pawns_in(const char *name)
{
    int pawns = 0;
    for (; *name; name++)
        pawns += *name == 'P';
    return pawns;
}

static int by_tier(const void *one, const void *other)
{
    if (strlen(one) != strlen(other))
        return strlen(one) > strlen(other) ? -1 : 1;
    int more = pawns_in(other) - pawns_in(one);
    return more ? more : strcmp(one, other);
}

/* List all endings of two to five men, in the order of tiers. */
static void make_endings(void)
{
    static const int MEN[11] = {NOBODY, 0, 1, 2, 3, 4, 8, 9, 10, 11, 12};
    char all[512][8];
    int found = 0;
    for (int a = 0; a < 11; a++)
        for (int b = a; b < 11; b++)
            for (int c = b; c < 11; c++) {
                int bag[3] = {MEN[a], MEN[b], MEN[c]}, codes[3], count = 0;
                for (int i = 0; i < 3; i++)
                    if (bag[i] != NOBODY)
                        codes[count++] = bag[i];
                name_ending(codes, count, all[found++]);
            }
    qsort(all, found, sizeof *all, by_tier);
    for (int i = 0; i < found; i++)
        if (i == 0 || strcmp(all[i], all[i - 1]))
            memcpy(endings[ending_count++], all[i], sizeof *all);
}

static i64 tier_of_ending(const char *name)
{
    for (int tier = 0; tier < ending_count; tier++)
        if (strcmp(endings[tier], name) == 0)
            return tier;
    return -1;
}

/* Chess: attacks. */

static void men_on(const Board *board, int *on)
{
    for (int square = 0; square < 64; square++)
        on[square] = EMPTY;
    for (int i = 0; i < board->count; i++)
        on[board->squares[i]] = board->codes[i];
    on[board->kings[0]] = KING;
    on[board->kings[1]] = KING + BLACK;
}

static int attacked(const int *on, int square, int side)
{
    for (int origin = 0; origin < 64; origin++) {
        if (on[origin] == EMPTY || on[origin] >> 3 != side || origin == square)
            continue;
        int files = (square & 7) - (origin & 7), ranks = (square >> 3) - (origin >> 3);
        int far = abs(files) > abs(ranks) ? abs(files) : abs(ranks), straight = !files || !ranks;
        int kind = on[origin] & 7, reaches = 0;
        if (kind == KNIGHT)
            reaches = abs(files * ranks) == 2;
        else if (kind == KING)
            reaches = far == 1;
        else if (kind == PAWN)
            reaches = abs(files) == 1 && ranks == (side ? -1 : 1);
        else if (straight ? kind != BISHOP : abs(files) == abs(ranks) && kind != ROOK) {
            int step = files / far + 8 * (ranks / far), at = origin + step;
            while (at != square && on[at] == EMPTY)
                at += step;
            reaches = at == square;
        }
        if (reaches)
            return 1;
    }
    return 0;
}

/* Return whether the side to move may capture a pawn on a file en passant. */
static int may_capture(const Board *board, int pawn_file)
{
    int on[64], turn = board->turn, pawn = 32 - 8 * turn + pawn_file, beyond = pawn + (turn ? -8 : 8);
    men_on(board, on);
    if (on[pawn] != PAWN + BLACK * (1 - turn) || on[beyond] != EMPTY || on[2 * beyond - pawn] != EMPTY)
        return 0;
    for (int beside = -1; beside <= 1; beside += 2) {
        if (pawn_file + beside < 0 || pawn_file + beside > 7 || on[pawn + beside] != PAWN + BLACK * turn)
            continue;
        on[beyond] = on[pawn + beside], on[pawn + beside] = on[pawn] = EMPTY;
        int safe = !attacked(on, board->kings[turn], 1 - turn);
        men_on(board, on);
        if (safe)
            return 1;
    }
    return 0;
}

static int counts_as_position(const Board *board)
{
    int on[64], men = 0;
    men_on(board, on);
    for (int square = 0; square < 64; square++)
        men += on[square] != EMPTY;
    for (int i = 0; i < board->count; i++)
        if (is_pawn(board->codes[i]) && (board->squares[i] < 8 || board->squares[i] >= 56))
            return 0;
    if (men != board->count + 2 || attacked(on, board->kings[1 - board->turn], board->turn))
        return 0;
    return !board->passed || (board->passed < 9 && may_capture(board, board->passed - 1));
}

/* Chess: slots. */

static int pair_numbers[2][4096];

/* Number the pairs of kings' squares that are least among their symmetric images: 462 without pawns, 1806 with pawns. */
static void make_pairs(void)
{
    for (int pawns = 0; pawns < 2; pawns++)
        for (int pair = 0, count = 0; pair < 4096; pair++) {
            int white = pair >> 6, black = pair & 63, least = 1;
            int files = abs((white & 7) - (black & 7)), ranks = abs((white >> 3) - (black >> 3));
            for (int symmetry = 0; symmetry < (pawns ? 2 : 8); symmetry++)
                least &= pair <= (turned(white, symmetry) << 6 | turned(black, symmetry));
            pair_numbers[pawns][pair] = (files > 1 || ranks > 1) && least ? count++ : EMPTY;
        }
}

static i64 choose(i64 number, int like)
{
    return like == 1 ? number : like == 2 ? number * (number - 1) / 2 : number * (number - 1) * (number - 2) / 6;
}

/* Return the slot of a position without en passant rights, and write the number of such slots. */
static i64 plain_slot(Board board, int pawns, int same, i64 *part)
{
    int pairs = pawns ? 1806 : 462;
    i64 slot = EMPTY, factor = (same ? 1 : 2) * pairs;
    u64 least = 0;
    for (int symmetry = 0; symmetry < (pawns ? 2 : 8); symmetry++) {
        Board image = board;
        image.colours = image.passed = 0;
        mirror(&image, symmetry);
        int pair = pair_numbers[pawns][image.kings[0] << 6 | image.kings[1]];
        if (pair == EMPTY || (slot != EMPTY && packed(&image) > least))
            continue;
        least = packed(&image);
        slot = image.turn * pairs + pair;
        for (int i = 0, like; i < image.count; i += like) {
            i64 sum = 0, ways = is_pawn(image.codes[i]) ? 48 : 64;
            for (like = 0; i + like < image.count && image.codes[i + like] == image.codes[i]; like++)
                sum += choose(image.squares[i + like] - (64 - ways) / 2, like + 1);
            slot = slot * choose(ways, like) + sum;
        }
    }
    for (int i = 0, like; i < board.count; i += like) {
        for (like = 1; i + like < board.count && board.codes[i + like] == board.codes[i]; like++)
            ;
        factor *= choose(is_pawn(board.codes[i]) ? 48 : 64, like);
    }
    *part = factor;
    return slot;
}

/* Return the number of a position among those with en passant rights, from 0. */
static i64 passed_slot(Board board)
{
    int on[64], turn = board.turn;
    if (board.passed > 4)
        mirror(&board, 1);
    men_on(&board, on);
    int pawn_file = board.passed - 1, pawn = 32 - 8 * turn + pawn_file;
    int left = pawn_file > 0 && on[pawn - 1] == PAWN + BLACK * turn, beside = left ? pawn - 1 : pawn + 1;
    i64 slot = (turn * 7 + 2 * pawn_file - left) * 4096 + board.kings[0] * 64 + board.kings[1];
    for (int i = 0; i < board.count; i++)
        if (board.squares[i] != pawn && board.squares[i] != beside)
            slot = is_pawn(board.codes[i]) ? slot * 48 + board.squares[i] - 8 : slot * 64 + board.squares[i];
    return slot;
}

/* Return the slot of a position within its tier, or -1. Write the tier. */
static i64 chess_slot(const Board *board, i64 *tier)
{
    char name[8];
    for (int i = 0; i < board->count; i++)
        if ((board->codes[i] & 7) > PAWN)
            return -1;
    int sides = name_ending(board->codes, board->count, name);
    *tier = tier_of_ending(name);
    if (sides == 1 || (sides == 2 && board->turn) || !counts_as_position(board))
        return -1;
    i64 part, slot = plain_slot(*board, pawns_in(name) > 0, sides == 2, &part);
    return board->passed ? part + passed_slot(*board) : slot;
}

/* Read a FEN up to the en passant square. Return 0 if it is no FEN. */
static int read_fen(const char *text, Board *board)
{
    static const char LETTERS[] = "QRBNPK";
    char name[8];
    int square = 56, kings = 0;
    memset(board, 0, sizeof *board);
    for (; *text && *text != ' ' && *text != '_'; text++) {
        const char *capital = strchr(LETTERS, *text & ~32);
        if (*text == '/')
            square -= 16;
        else if (*text >= '1' && *text <= '8')
            square += *text - '0';
        else if (!capital || square < 0 || square > 63)
            return 0;
        else {
            int black = *text >= 'a', kind = capital - LETTERS;
            if (kind == KING)
                board->kings[black] = square, kings |= 1 << black;
            else if (board->count == 3)
                return 0;
            else
                board->codes[board->count] = kind + BLACK * black, board->squares[board->count++] = square;
            square++;
        }
    }
    if (kings != 3 || !*text || (text[1] != 'w' && text[1] != 'b'))
        return 0;
    board->turn = text[1] == 'b';
    sort_men(board);
    int sides = name_ending(board->codes, board->count, name);
    if (sides == 1 || (sides == 2 && board->turn))
        exchange(board);
    for (text += 2; *text == ' ' || *text == '_' || *text == '-'; text++)
        ;
    if (*text >= 'a' && *text <= 'h' && may_capture(board, *text - 'a'))
        board->passed = *text - 'a' + 1;
    return 1;
}

/* Part 4: questions and answers. */

static void open_database(const char *path)
{
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        die("%s is no HDF5 file", path);
    version = number_of("format_version");
    if (has("kept"))
        die("%s is compact: half of it follows from moves, which are not known here", path);
    if (strcmp(text_of("format"), "retrograde") || version < 2 || version > 8 || has("replies"))
        die("%s is no database of version 2 to 8", path);
    const char *kind = has("slots") ? "slots" : has("bounds") ? "bounds" : has("steps") ? "steps" : has("rows") ? "rows" : "records";
    int by_slot = strcmp(kind, "steps") && strcmp(kind, "records");
    legend = open_dataset("legend");
    tiers = open_dataset("tiers");
    records = open_dataset(kind);
    values = column(&legend, "value");
    remotenesses = column(&legend, "remoteness");
    measure_count = H5Tget_nmembers(legend.type) - PLAIN_COLUMNS;
    if (measure_count > MOST_MEASURES)
        die("the legend has %d columns more than this program has room for", measure_count - MOST_MEASURES);
    for (int i = 0; i < measure_count; i++) {
        measure_names[i] = H5Tget_member_name(legend.type, PLAIN_COLUMNS + i);
        measures[i] = column(&legend, measure_names[i]);
    }
    numbers = column(&tiers, "tier");
    firsts = column(&tiers, by_slot ? "slot" : has("steps") ? "step" : "record");
    blocks = open_dataset("blocks");
    records.checks = column(&blocks, "check");
    outcome_size = records.item;
    if (has("rows")) {
        words = H5Tget_nmembers(records.type) - 1;
        outcome_size -= 8 * words;
    }
    if (by_slot)
        return;
    outcome_size = H5Tget_size(H5Tget_member_type(records.type, 0));
    gap_size = records.item - outcome_size;
    tier_positions = column(&tiers, "position");
    block_positions = column(&blocks, has("steps") ? "rank" : "position");
    if (has("steps"))
        tier_masks = column(&tiers, "mask");
    else
        block_masks = column(&blocks, "mask");
}

static i64 find(u64 position, i64 tier) { return has("steps") ? find_step(position, tier) : find_record(position, tier); }

static void print_outcome(int value, i64 remoteness)
{
    if (value == DRAW)
        printf("draw");
    else
        printf("%s %" PRId64, VALUES[value], remoteness);
}

static void print_row(i64 row)
{
    if (row < 0)
        printf("none");
    else
        print_outcome(values[row], remotenesses[row]);
    for (int i = 0; row >= 0 && i < measure_count; i++)
        printf(" %s %" PRId64, measure_names[i], measures[i][row]);
}

static void answer_chess(const char *text)
{
    Board board;
    i64 tier, slot;
    char *end;
    u64 position = strtoull(text, &end, 10);
    if (*end) {
        slot = read_fen(text, &board) ? chess_slot(&board, &tier) : -1;
    } else {
        board = unpacked(position);
        slot = position >> 48 ? -1 : chess_slot(&board, &tier);
    }
    i64 row = slot < 0 ? -1 : row_of_tier(tier);
    int there = row >= 0 && firsts[row] + slot < end_of_tier(row);
    print_row(there ? outcome_of(firsts[row] + slot) : -1);
    if (slot >= 0)
        printf(" slot %" PRId64, slot);
    putchar('\n');
}

/* Print the bounds of a slot. The file has the lower bound, then the distance to the upper one. */
static void answer_bounds(i64 index, i64 tier)
{
    i64 row = row_of_tier(tier), slot = row < 0 ? -1 : firsts[row] + index;
    if (row < 0 || index < 0 || slot >= end_of_tier(row)) {
        puts("none");
        return;
    }
    load(&records, slot / records.chunk);
    const unsigned char *item = records.bytes + slot % records.chunk * records.item;
    i64 low = little(item, 8), width = little(item + 8, 8);
    printf("low %" PRId64 " high %" PRId64 "\n", low, low + width);
}

/* Print the outcome of a slot, whether it stands for a position or not. */
static void answer_slot(i64 index, i64 tier)
{
    i64 row = row_of_tier(tier), slot = row < 0 ? -1 : firsts[row] + index;
    print_row(row < 0 || index < 0 || slot >= end_of_tier(row) ? -1 : outcome_of(slot));
    putchar('\n');
}

/* Print the outcome of a canonical position of several words. */
static void answer_words(const char *text)
{
    i64 wanted[MOST_WORDS];
    size_t count = 0;
    char *end = (char *)text - 1;
    do
        wanted[count++] = strtoll(text = end + 1, &end, 10);
    while (end > text && *end == ',' && count < MOST_WORDS);
    if (end == text || *end != '@' || count != words)
        die("ask for the %zu words of a position with commas between them, then @TIER", words);
    print_row(find_words(wanted, strtoll(end + 1, NULL, 10)));
    putchar('\n');
}

static void answer(const char *text)
{
    char *end;
    if (has("rows")) {
        answer_words(text);
        return;
    }
    u64 position = strtoull(text, &end, 10), others[1024];
    if (is_chess) {
        answer_chess(text);
        return;
    }
    if (end == text || (*end && *end != '@'))
        die("no position %s", text);
    if (has("bounds")) {
        if (*end != '@')
            die("of expectations by slot ask for INDEX@TIER, not for %s", text);
        answer_bounds(position, strtoll(end + 1, NULL, 10));
        return;
    }
    if (has("slots")) {
        if (*end != '@')
            die("of games that number their positions ask for INDEX@TIER, not for %s", text);
        answer_slot(position, strtoll(end + 1, NULL, 10));
        return;
    }
    if (*end == '@') {
        print_row(find(position, strtoll(end + 1, NULL, 10)));
        putchar('\n');
        return;
    }
    if (!game || (has("steps") && !game->primitive))
        die("the rules of %s are not in this program; ask for POSITION@TIER", text_of("game"));
    if (has("steps")) { /* ends, and positions that win with the next move, need no step */
        int value = game->primitive(position), wins = 0, count;
        if (value) {
            print_outcome(value, 0);
            putchar('\n');
            return;
        }
        count = game->children(position, others);
        for (int i = 0; i < count; i++)
            wins |= game->primitive(others[i]) == LOSE;
        if (wins) {
            print_outcome(WIN, 1);
            putchar('\n');
            return;
        }
    }
    int count = game->images(position, others), least = 0;
    for (int i = 1; i < count; i++) {
        i64 one = game->tier(others[i]), other = game->tier(others[least]);
        if (one < other || (one == other && others[i] < others[least]))
            least = i;
    }
    print_row(find(others[least], game->tier(others[least])));
    putchar('\n');
}

int main(int count, char **words)
{
    char line[256];
    if (count < 2)
        die("usage: reader DATABASE [POSITION ...]");
    H5Eset_auto(H5E_DEFAULT, NULL, NULL); /* this program prints its own errors */
    open_database(words[1]);
    choose_game();
    make_endings();
    make_pairs();
    for (int i = 2; i < count; i++)
        answer(words[i]);
    while (count == 2 && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\r\n")] = 0;
        answer(line);
    }
    return 0;
}
