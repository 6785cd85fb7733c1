//! The toolsets that this program brings along, for `[[source]] builtin = "…"`. Each is a file
//! here and a name in `BUILTIN_TOOLSETS` of `toolwright_workspace`, by which a configuration is
//! checked.

mod browser;
mod page_tools;
mod web;

use std::sync::Arc;

use toolwright_exec::BuiltinToolset;

use self::browser::BrowserToolset;
use self::page_tools::PageToolset;
use crate::browser::BrowserSessions;

/// All of them. Two of them work in this browser. A test holds that `BUILTIN_TOOLSETS` has exactly
/// these names.
pub(crate) fn all(browser: &Arc<BrowserSessions>) -> Vec<Arc<dyn BuiltinToolset>> {
    vec![
        Arc::new(web::WebToolset::new()),
        Arc::new(BrowserToolset(Arc::clone(browser))),
        Arc::new(PageToolset::new(Arc::clone(browser))),
    ]
}

#[cfg(test)]
mod tests {
    use toolwright_exec::Log;
    use toolwright_workspace::{BUILTIN_TOOLSETS, BrowserConfig};

    use crate::browser::new_browser;

    #[test]
    fn a_configuration_can_name_every_toolset_and_no_other() {
        let browser = new_browser(&BrowserConfig::default(), &Log::default());
        let names: Vec<&str> = super::all(&browser).iter().map(|toolset| toolset.name()).collect();
        assert_eq!(names, BUILTIN_TOOLSETS);
    }
}
