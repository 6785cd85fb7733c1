//! The program `toolwright` as users run it: arguments in, output and exit code out. Every module
//! starts the built binary, except those that check files of the repository (`architecture`, the
//! pages of `codes` and `rules`), those that compare findings in bulk (`mutations`, `rules`), and
//! `gateway`, whose tool asks its caller.

mod architecture;
mod architecture_page;
mod authoring;
mod baseline;
mod btcp_tool_bodies;
mod calling;
mod checking;
mod client;
mod client_files;
mod codes;
mod console_blocks;
mod converting;
mod corpus;
mod cost;
mod diffing;
mod evaluating;
mod examples_as_tests;
mod first_steps;
mod fixing;
mod found_sources;
mod gateway;
mod hostile_definitions;
mod hostile_documents;
mod hostile_scripts;
mod init;
mod knowledge;
mod live_servers;
mod manual_pages;
mod markdown_and_web_tools;
mod mutations;
mod program;
mod rules;
mod sandbox;
mod schema_mistakes;
mod servers_files;
mod serving;
mod serving_http;
mod serving_protocol;
mod show_and_list;
mod silencing_comments;
mod sources;
mod starting;
mod targets;
mod tasks;
mod upstreams;
mod validation;
mod vendor_calls;
