//! Fields that the user gives with `--set FIELD=VALUE`, for what a target demands and the source
//! does not have.
//!
//! ```text
//! --set namespace=web            a field of every toolset
//! --set read.description=TEXT    of each tool `read`: by name, id, or id with version
//! --set read.inputSchema=JSON    a schema, which has to compile
//! ```
//!
//! `convert` applies them before anything is compared, so a field that the user gave is not
//! reported as filled in.

use toolwright_model::{FieldValue, Json, Namespace, Tool, Toolset, Version};

/// A field and its value, as the user wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSetting {
    /// `namespace`, or `TOOL.description`.
    pub field: String,
    /// The value: a text, or JSON for a schema.
    pub value: String,
}

/// Why a setting cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is no such field.
    #[error(
        "`--set {0}=…`: there is no such field (fields are `namespace`, `title`, `description` and \
         `version`, and `description`, `title`, `version`, `inputSchema` and `outputSchema` of a \
         tool, such as `TOOL.description`)"
    )]
    UnknownField(String),
    /// There is no such tool.
    #[error("`--set {0}=…`: the source has no tool `{1}`")]
    UnknownTool(String, String),
    /// The value is not one of the field.
    #[error("`--set {0}=…`: {1}")]
    InvalidValue(String, String),
}

/// Puts the values into the records: a field of a tool into those that have the tool, another one
/// into all. A value that is there already is replaced.
///
/// # Errors
/// The first setting that cannot be used. What earlier ones set stays, but callers give up then.
pub(super) fn apply(
    toolsets: &mut [Toolset<Tool>],
    settings: &[FieldSetting],
) -> Result<(), SettingError> {
    for setting in settings {
        // The name of a tool may have dots, that of a field has none.
        let Some((tool, field)) = setting.field.rsplit_once('.') else {
            toolsets.iter_mut().try_for_each(|toolset| set_in_toolset(toolset, setting))?;
            continue;
        };
        let mut is_found = false;
        for toolset in &mut *toolsets {
            is_found |= set_in_tool(toolset, tool, field, setting)?;
        }
        if !is_found {
            return Err(SettingError::UnknownTool(setting.field.clone(), tool.to_owned()));
        }
    }
    Ok(())
}

/// Sets a field of the toolset. The names of fields are those of the record, not of a format.
fn set_in_toolset(toolset: &mut Toolset<Tool>, setting: &FieldSetting) -> Result<(), SettingError> {
    let text = || setting.value.clone();
    match setting.field.as_str() {
        // Formats call it so: the name of a manifest, the id of an AIOS tool.
        "namespace" => {
            let namespace = Namespace::parse(&setting.value).map_err(|e| invalid(setting, &e))?;
            toolset.namespace = FieldValue::Valid(namespace);
        }
        "title" => toolset.title = Some(text()),
        "description" => toolset.description = Some(text()),
        "version" => toolset.version = FieldValue::Valid(version(setting)?),
        _ => return Err(SettingError::UnknownField(setting.field.clone())),
    }
    Ok(())
}

/// Returns whether the toolset has the tool.
///
/// The first tool of the name is meant, if there are several.
fn set_in_tool(
    toolset: &mut Toolset<Tool>,
    name: &str,
    field: &str,
    setting: &FieldSetting,
) -> Result<bool, SettingError> {
    let namespace = toolset.namespace.ok().cloned();
    let is_meant = |tool: &&mut Tool| {
        let id = tool.id(namespace.as_ref()).to_string();
        let versioned = tool.version.as_ref().map(|version| format!("{id}:{}", version.release()));
        tool.name.as_str() == name || id == name || versioned.as_deref() == Some(name)
    };
    let Some(tool) = toolset.tools.iter_mut().find(is_meant) else { return Ok(false) };
    match field {
        "description" => tool.description = Some(setting.value.clone()),
        "title" => tool.details.title = Some(setting.value.clone()),
        "version" => tool.version = Some(version(setting)?),
        "inputSchema" => tool.input = schema(setting)?.into(),
        "outputSchema" => tool.output = Some(schema(setting)?),
        _ => return Err(SettingError::UnknownField(setting.field.clone())),
    }
    Ok(true)
}

fn version(setting: &FieldSetting) -> Result<Version, SettingError> {
    Version::parse_bare(&setting.value).map_err(|error| invalid(setting, &error))
}

/// A value that is a schema: JSON text of an object that compiles.
fn schema(setting: &FieldSetting) -> Result<Json, SettingError> {
    let json = toolwright_schema::decode(setting.value.as_bytes())
        .map_err(|error| invalid(setting, &format!("the value is {error}")))?;
    if !json.is_object() {
        return Err(invalid(setting, &"the value is not a JSON Schema object"));
    }
    match toolwright_schema::Schema::compile(&json) {
        Ok(_) => Ok(json),
        Err(error) => Err(invalid(setting, &error)),
    }
}

fn invalid(setting: &FieldSetting, reason: &dyn std::fmt::Display) -> SettingError {
    SettingError::InvalidValue(setting.field.clone(), reason.to_string())
}
