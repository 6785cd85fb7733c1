//! Resources, prompts and completions: lists are answered from the catalog, everything else
//! is forwarded to the server that has the item, with the names that this server knows. Documents
//! with the knowledge of toolsets are this server's own resources.
//!
//! ```text
//! uri or name that clients see ─▶ Offers ─▶ OfferedItem: the server, and its own name of the item
//!                                               │
//! result, with names that clients see ◀─ Offers::expose ◀─ Upstream::request
//! ```
//!
//! Servers may have the same URIs and names, so what clients see can differ from what the server
//! knows. The translation happens here and nowhere else, in both directions, also inside of
//! results.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use toolwright_catalog::OfferedItem;
use toolwright_exec::Host;
use toolwright_exec::mcp::{RequestError, Upstream};
use toolwright_mcp::{Revision, RpcError, error_code};

use crate::Gateway;
use crate::call_host::CallHost;
use crate::dispatcher::RequestContext;
use crate::list_pages::PagedList;
use crate::request_params::{RequestParams, invalid_params};
use crate::request_terms::{RequestTerms, unknown_method};
use crate::result_body::ResultBody;
use crate::suspended_calls::MethodResult;
use crate::tool_calls::STATELESS_MEMBERS;

/// Members of results that only revision 2026-07-28 has.
const STATELESS_ONLY: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

impl Gateway {
    /// Answers `resources/list`, `resources/templates/list` and `prompts/list` with a page. No
    /// server is asked: the catalog has loaded their lists, and loads them again when servers
    /// report a change.
    pub(crate) async fn list_offers(&self, context: &RequestContext<'_>) -> MethodResult {
        let cursor = RequestParams::optional_text(context.params.cursor, "cursor")?;
        self.wait_for_sources().await;
        let (offers, offered) = (self.offers(), self.offered());
        let (items, member, key, is_offered) = match context.method {
            "prompts/list" => (&offers.prompts, "prompts", "name", offered.prompts),
            "resources/list" => (&offers.resources, "resources", "uri", offered.resources),
            _ => (&offers.templates, "resourceTemplates", "uriTemplate", offered.resources),
        };
        // Many older clients ask for every list, whatever the capabilities are. They get an empty
        // one; newer ones know what the error means.
        if context.terms.is_stateless() && !is_offered {
            return Err(unknown_method(context.method));
        }
        let text_of = |item: &Json| {
            let key = item.get(key).and_then(Json::as_str).unwrap_or_default();
            (key.to_owned(), Cow::from(item.to_string()))
        };
        let mut items: Vec<_> = items.iter().map(text_of).collect();
        if context.method == "resources/list" {
            items.extend(self.listing().documents.resources().map(|item| text_of(&item)));
        }
        let list = PagedList { name: member, member, items: &items, is_sorted: false };
        let more: &[&str] = if context.terms.is_stateless() { &STATELESS_MEMBERS } else { &[] };
        list.page(cursor.as_deref(), self.options().page_size, more).map(ResultBody::Text)
    }

    /// Answers `resources/read`. A URI that is not in any list may still match a template, or may
    /// have been named in a result; which server has it is the business of `Offers::resource`.
    ///
    /// # Errors
    /// For a URI that nothing here has, the error that the client's revision defines: -32002 with a
    /// handshake, -32602 in 2026-07-28. The errors of servers are translated likewise.
    ///
    /// Documents of this program come first: no server can take their place.
    pub(crate) async fn read_resource(
        &self,
        context: &RequestContext<'_>,
        raw: Option<&RawValue>,
        host: &CallHost,
    ) -> MethodResult {
        let uri = RequestParams::text(context.params.uri, "uri")?;
        self.wait_for_sources().await;
        if let Some(document) = self.listing().documents.read(&uri) {
            let document = adapt_result(document, context.method, context.terms, None);
            return Ok(ResultBody::Json(document));
        }
        let item =
            self.offers().resource(&uri).ok_or_else(|| unknown_resource(&uri, context.terms))?;
        let mut params = forwarded_params(raw)?;
        params.insert("uri".into(), json!(item.own));
        let answer = self.forward(context, &item, params, host).await;
        // Servers of older revisions have a code of their own for this.
        answer.map_err(|error| match error.code {
            error_code::RESOURCE_NOT_FOUND if context.terms.is_stateless() => {
                RpcError { code: error_code::INVALID_PARAMS, ..error }
            }
            _ => error,
        })
    }

    /// Answers `prompts/get`. The arguments are passed on as they are; the server checks them.
    ///
    /// # Errors
    /// -32602 for a prompt that no server has.
    pub(crate) async fn get_prompt(
        &self,
        context: &RequestContext<'_>,
        raw: Option<&RawValue>,
        host: &CallHost,
    ) -> MethodResult {
        let name = RequestParams::text(context.params.name, "name")?;
        self.wait_for_sources().await;
        let item = self
            .offers()
            .prompt(&name)
            .ok_or_else(|| invalid_params(format!("there is no prompt `{name}`")))?;
        let mut params = forwarded_params(raw)?;
        params.insert("name".into(), json!(item.own));
        self.forward(context, &item, params, host).await
    }

    /// Answers `completion/complete`. What is completed is an argument of a prompt or of a
    /// template, which the parameters name in `ref`; only that name is translated.
    ///
    /// A `ref/resource` is a template, or a URI as clients see it.
    pub(crate) async fn complete(
        &self,
        context: &RequestContext<'_>,
        raw: Option<&RawValue>,
        host: &CallHost,
    ) -> MethodResult {
        let mut params = forwarded_params(raw)?;
        let reference = params.get_mut("ref").and_then(Json::as_object_mut);
        let reference = reference.ok_or_else(|| invalid_params("`ref` is not an object"))?;
        self.wait_for_sources().await;
        let offers = self.offers();
        let kind = reference.get("type").and_then(Json::as_str).unwrap_or_default();
        let member = match kind {
            "ref/prompt" => "name",
            "ref/resource" => "uri",
            kind => return Err(invalid_params(format!("`{kind}` is not a type of reference"))),
        };
        let name = reference.get(member).and_then(Json::as_str).unwrap_or_default();
        let item = match member {
            "name" => offers.prompt(name),
            _ => offers.template(name).or_else(|| offers.resource(name)),
        };
        let item = item.ok_or_else(|| invalid_params(format!("there is no `{name}`")))?;
        reference.insert(member.into(), json!(item.own));
        self.forward(context, &item, params, host).await
    }

    /// Sends a request to the server of an item and returns its result as the client accepts it.
    ///
    /// The server may speak another revision than the client, so its result is adapted.
    async fn forward(
        &self,
        context: &RequestContext<'_>,
        item: &OfferedItem,
        params: Map<String, Json>,
        host: &dyn Host,
    ) -> MethodResult {
        let asking = self.ask_server(context, &item.upstream, context.method, params, host);
        let result = asking.await?;
        let spoken = item.upstream.revision(host.session());
        Ok(ResultBody::Json(adapt_result(result, context.method, context.terms, spoken)))
    }

    /// Sends a request to a server and returns its result, with the URIs that clients see.
    ///
    /// # Errors
    /// That of the server as it is, and a failure of the connection as an internal error.
    pub(crate) async fn ask_server(
        &self,
        context: &RequestContext<'_>,
        upstream: &Arc<Upstream>,
        method: &str,
        params: Map<String, Json>,
        host: &dyn Host,
    ) -> Result<Json, RpcError> {
        let asking = upstream.request(method, params, host);
        let mut result = self.unless_ended(context, asking).await?.map_err(request_error)?;
        self.offers().expose(upstream.server(), &mut result);
        Ok(result)
    }

    /// Does some work until the request is cancelled or the program ends. The work is dropped then,
    /// which cancels its request to the server. The error reaches a client only in the second case:
    /// a cancelled request gets no response.
    pub(crate) async fn unless_ended<T>(
        &self,
        context: &RequestContext<'_>,
        work: impl Future<Output = T>,
    ) -> Result<T, RpcError> {
        let why = tokio::select! {
            result = work => return Ok(result),
            () = context.cancel.cancelled() => "the request was cancelled",
            () = self.aborted().cancelled() => "the request ended with the server",
        };
        Err(RpcError::new(error_code::INTERNAL_ERROR, why))
    }
}

/// The error of a request to a server, for the client.
///
/// An error that the server answered with is passed on as it is, code and data included.
pub(crate) fn request_error(error: RequestError) -> RpcError {
    match error {
        RequestError::Answered(error) => error,
        RequestError::Failed(failure) => {
            let mut error = RpcError::new(error_code::INTERNAL_ERROR, failure.to_string());
            error.data = Some(failure.to_json());
            error
        }
    }
}

/// Adds to a server's result what the revision of the client demands, or removes what it does not
/// have. `spoken` is the revision of the server: in older ones than 2026-07-28 its members mean
/// nothing, and stay like all others that are unknown. `None` if it is not known, or for results of
/// this program; then they are removed.
pub(crate) fn adapt_result(
    mut result: Json,
    method: &str,
    terms: &RequestTerms,
    spoken: Option<Revision>,
) -> Json {
    let Some(members) = result.as_object_mut() else { return result };
    if terms.is_stateless() {
        members.entry("resultType").or_insert_with(|| json!("complete"));
        if method == "resources/read" {
            members.entry("ttlMs").or_insert_with(|| json!(0));
            members.entry("cacheScope").or_insert_with(|| json!("private"));
        }
    } else if spoken.is_none_or(|revision| revision == Revision::V2026_07_28) {
        for member in STATELESS_ONLY {
            members.shift_remove(member);
        }
    }
    result
}

/// The parameters of a request without those of this hop; the upstream adds its own. `requestState`
/// and `inputResponses` belong to a question that this program asked, so no server may see them.
pub(crate) fn forwarded_params(raw: Option<&RawValue>) -> Result<Map<String, Json>, RpcError> {
    let Some(raw) = raw else { return Ok(Map::new()) };
    let mut params: Map<String, Json> = serde_json::from_str(raw.get())
        .map_err(|error| invalid_params(format!("the parameters are invalid: {error}")))?;
    for member in ["_meta", "inputResponses", "requestState"] {
        params.shift_remove(member);
    }
    Ok(params)
}

/// The error for a URI that no server has.
///
/// With the URI as data. The code is the one that `read_resource` names.
pub(crate) fn unknown_resource(uri: &str, terms: &RequestTerms) -> RpcError {
    let code = match terms.is_stateless() {
        true => error_code::INVALID_PARAMS,
        false => error_code::RESOURCE_NOT_FOUND,
    };
    let mut error = RpcError::new(code, format!("there is no resource `{uri}`"));
    error.data = Some(json!({"uri": uri}));
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(revision: Revision) -> RequestTerms {
        RequestTerms { revision, capabilities: Arc::new(json!({})), log_level: None }
    }

    #[test]
    fn results_have_the_members_of_the_clients_revision() {
        let (old, new) = (terms(Revision::V2025_11_25), terms(Revision::V2026_07_28));
        let read = json!({"contents": [], "x": 1});
        let marked = json!({
            "contents": [], "x": 1, "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        });
        let (of_old, of_new) = (Some(Revision::V2025_11_25), Some(Revision::V2026_07_28));
        assert_eq!(adapt_result(read.clone(), "resources/read", &new, of_old), marked);
        assert_eq!(adapt_result(marked, "resources/read", &old, of_new), read);
        let own = json!({"contents": [], "ttlMs": 5, "cacheScope": "public"});
        assert_eq!(adapt_result(own.clone(), "resources/read", &new, of_new)["ttlMs"], 5);
        assert_eq!(adapt_result(own.clone(), "resources/read", &old, of_old), own);
        let prompt = adapt_result(json!({"messages": []}), "prompts/get", &new, of_old);
        assert_eq!(prompt, json!({"messages": [], "resultType": "complete"}));
    }

    #[test]
    fn unknown_resources_have_the_code_of_the_revision() {
        let code = |revision| unknown_resource("x:y", &terms(revision)).code;
        assert_eq!(code(Revision::V2025_06_18), -32002);
        assert_eq!(code(Revision::V2026_07_28), -32602);
    }
}
