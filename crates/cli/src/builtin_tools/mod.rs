//! The toolsets that this program brings along, for `[[source]] builtin = "…"`. Each is a file
//! here and a name in `BUILTIN_TOOLSETS` of `toolwright_workspace`, by which a configuration is
//! checked.

mod web;

use std::sync::Arc;

use toolwright_exec::BuiltinToolset;

/// All of them.
pub(crate) fn all() -> Vec<Arc<dyn BuiltinToolset>> {
    vec![Arc::new(web::WebToolset::new())]
}

#[cfg(test)]
mod tests {
    use toolwright_workspace::BUILTIN_TOOLSETS;

    #[test]
    fn a_configuration_can_name_every_toolset_and_no_other() {
        let names: Vec<&str> = super::all().iter().map(|toolset| toolset.name()).collect();
        assert_eq!(names, BUILTIN_TOOLSETS);
    }
}
