fn main() {
    for a in std::env::args().skip(1) {
        let text = a.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t");
        println!("--- {text:?}");
        let options = granit_parser::options! { emit_unresolved_aliases: true, emit_anchor_events: true, };
        for e in granit_parser::Parser::new_from_str_with_options(&text, options) {
            match e {
                Ok((e, s)) => println!(
                    "{:?}..{:?} indent {:?} tag {:?} {e:?}",
                    s.start.byte_offset(),
                    s.end.byte_offset(),
                    s.indent,
                    s.tag_span().map(|s| s.start.byte_offset())
                ),
                Err(e) => println!("{e:?}"),
            }
        }
    }
}
