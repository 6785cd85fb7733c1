//! English verbs that names of tools start with, for the BTCP convention of a verb and a noun.
//!
//! No list of verbs is complete, and many nouns are verbs as well. So a name without one of these
//! gets a note and not a warning, and the list leans towards accepting: it holds what tools in
//! public registries start with, including `is`, `has` and `can` for questions.

/// The verbs, in alphabetical order and in lower case, separated by single spaces. One string and
/// not a slice: names are short and few, so a linear search costs nothing, and this reads better.
pub(super) const VERBS: &str = "\
    accept activate add allow analyse analyze annotate append apply approve archive ask assign attach \
    authorize batch begin block blur book build calculate call can cancel capture change check choose \
    classify clear click clone close collapse collect combine commit compare compile complete compose \
    compress compute configure confirm connect convert copy count crawl create crop cut deactivate \
    decline decode decrypt delete deploy describe detach detect diff disable disconnect dismiss dispatch \
    do download drag draw drop duplicate echo edit emit enable encode encrypt end enter estimate \
    evaluate execute expand explain export extract fetch fill filter find flag flush focus follow format \
    forward generate get give go grant group handle has hide highlight hover identify import index \
    inject insert inspect install invite invoke is join jump keep kill launch leave link list listen \
    load lock log look lookup make map mark measure merge minimize modify monitor mount move mute \
    navigate normalize notify observe open order parse paste patch pause perform pick pin ping place \
    play plot poll post predict prepare press preview print process publish pull purchase push put query \
    read receive record redo refresh register reject release reload remember remove rename render \
    reorder repeat replace reply report request require reset resize resolve restart restore resume \
    retrieve retry return revert revoke rotate run sample save scan schedule scrape scroll search select \
    send set share show sign simulate skip solve sort split start stop store stream submit subscribe \
    suggest sum summarise summarize swap switch sync tag take tap tell terminate test toggle track train \
    transfer transform translate trigger trim turn type unblock undo uninstall unlock unmute unpin \
    unsubscribe update upload upsert use validate verify view visit wait watch write zoom";
