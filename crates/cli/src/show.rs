//! `toolwright show`: the canonical record, as cards or as JSON.

use serde_json::json;
use toolwright_workspace::record;

use crate::args::ShowArgs;
use crate::output::{self, Exit};
use crate::{card, report, sources};

pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let load = sources::load(&args.inputs)?;
    let readings: Vec<_> = load.documents.iter().filter_map(|file| file.reading.as_ref()).collect();
    if args.json {
        let tools: Vec<_> =
            readings.iter().enumerate().flat_map(|(n, r)| record::tools(r, n)).collect();
        let toolsets: Vec<_> = readings.iter().map(|reading| record::toolset(reading)).collect();
        let record = json!({"tools": tools, "toolsets": toolsets});
        output::print(&format!("{record:#}\n"))?;
    } else {
        let cards: Vec<String> = readings.iter().map(|reading| card::card(reading)).collect();
        output::print(&cards.join("\n"))?;
    }
    Ok(report::finish(&load, args.inputs.report.output_format))
}
