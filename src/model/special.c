/* special.c: questions asked of the table of special forms. */
#include "model/special.h"

#include "model/name.h"
#include "model/special_rows.h"

const hf_special_form *hf_special_at(unsigned index)
{
    return index < HF_SPECIAL_COUNT ? &hf_special_rows[index] : NULL;
}

bool hf_special_names(unsigned index, hf_name_row *ret_row)
{
    const hf_special_form *form = hf_special_at(index);

    if (!form)
        return false;
    ret_row->name = form->name;
    ret_row->second = form->catalog;
    ret_row->aliases = form->aliases;
    return true;
}

const hf_special_form *hf_special_find(hf_str name)
{
    unsigned index;

    if (!hf_name_find(hf_special_names, name, &index))
        return NULL;
    return &hf_special_rows[index];
}

bool hf_level_forbids_form(hf_level level, const hf_special_form *form)
{
    for (const hf_level *l = form->forbidden_at; *l != HF_LEVEL_COUNT; l++) {
        if (hf_level_implies(level, *l))
            return true;
    }
    return false;
}
