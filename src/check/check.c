/* check.c: the table of engines. */
#include "check/check.h"

#include "check/brute_engine.h"

static const hf_engine engines[] = {
    {"brute",
     "the definition of every level by enumeration, up to 8 transactions",
     hf_brute_check},
};

const hf_engine *hf_engine_at(unsigned index)
{
    return index < sizeof(engines) / sizeof(engines[0]) ? &engines[index]
                                                        : NULL;
}

const hf_engine *hf_engine_find(hf_str name)
{
    for (unsigned i = 0; hf_engine_at(i); i++)
        if (hf_str_same_name(name, hf_str_of(engines[i].name)))
            return &engines[i];
    return NULL;
}
