/* date.c: dates and timestamps of the proleptic Gregorian calendar, counted
 * from 2000-01-01 as PostgreSQL does.  Only the ISO form is read. */
#include "sql/value.h"

#include <ctype.h>

#define DAY_MICROSECONDS INT64_C(86400000000)
/* days from 0000-03-01 to 2000-01-01 */
#define EPOCH_DAYS INT64_C(730425)

typedef struct reader {
    const char *at, *end;
} reader;

/* Exactly `width` digits. */
static bool take_number(reader *r, unsigned width, int64_t *ret)
{
    int64_t n = 0;

    if (r->end - r->at < (int)width)
        return false;
    for (unsigned i = 0; i < width; i++) {
        if (!isdigit((unsigned char)r->at[i]))
            return false;
        n = n * 10 + (r->at[i] - '0');
    }
    r->at += width;
    *ret = n;
    return true;
}

static bool take_char(reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static int64_t month_days(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && leap);
}

/* Months are counted from March, so that the leap day comes last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    month = month > 2 ? month - 3 : month + 9;
    return year * 365 + year / 4 - year / 100 + year / 400 +
           (153 * month + 2) / 5 + day - 1 - EPOCH_DAYS;
}

void hf_sql_civil(int64_t days, int64_t *ret_year, unsigned *ret_month,
                  unsigned *ret_day)
{
    int64_t z = days + EPOCH_DAYS;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t day = z - era * 146097; /* of the 400 years */
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t month;

    day -= 365 * year + year / 4 - year / 100;
    month = (5 * day + 2) / 153;
    *ret_day = (unsigned)(day - (153 * month + 2) / 5 + 1);
    *ret_month = (unsigned)(month < 10 ? month + 3 : month - 9);
    *ret_year = year + era * 400 + (*ret_month <= 2);
}

static bool take_date(reader *r, int64_t *ret_days)
{
    int64_t year, month, day;

    if (!take_number(r, 4, &year) || !take_char(r, '-') ||
        !take_number(r, 2, &month) || !take_char(r, '-') ||
        !take_number(r, 2, &day))
        return false;
    if (year < 1 || month < 1 || month > 12 || day < 1 ||
        day > month_days(year, month))
        return false;
    *ret_days = days_of(year, month, day);
    return true;
}

/* hh:mm[:ss[.ffffff]] */
static bool take_time(reader *r, int64_t *ret_microseconds)
{
    int64_t hour, minute, second = 0, part = 0, unit = 100000;

    if (!take_number(r, 2, &hour) || !take_char(r, ':') ||
        !take_number(r, 2, &minute))
        return false;
    if (take_char(r, ':') && !take_number(r, 2, &second))
        return false;
    if (take_char(r, '.')) {
        if (r->at == r->end)
            return false;
        while (r->at < r->end && isdigit((unsigned char)*r->at)) {
            if (unit == 0)
                return false; /* would be rounded */
            part += (*r->at++ - '0') * unit;
            unit /= 10;
        }
    }
    if (hour > 23 || minute > 59 || second > 59)
        return false;
    *ret_microseconds = ((hour * 60 + minute) * 60 + second) * 1000000 + part;
    return true;
}

static reader trimmed(hf_str s)
{
    while (s.len > 0 && s.ptr[0] == ' ') {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && s.ptr[s.len - 1] == ' ')
        s.len--;
    return (reader){s.ptr, s.ptr + s.len};
}

bool hf_sql_date(hf_str s, int64_t *ret_days)
{
    reader r = trimmed(s);
    int64_t days;

    if (!take_date(&r, &days) || r.at != r.end)
        return false;
    *ret_days = days;
    return true;
}

bool hf_sql_timestamp(hf_str s, int64_t *ret_microseconds)
{
    reader r = trimmed(s);
    int64_t days, rest = 0;

    if (!take_date(&r, &days))
        return false;
    if (r.at != r.end) {
        if (!take_char(&r, ' ') && !take_char(&r, 'T'))
            return false;
        if (!take_time(&r, &rest) || r.at != r.end)
            return false;
    }
    *ret_microseconds = days * DAY_MICROSECONDS + rest;
    return true;
}
