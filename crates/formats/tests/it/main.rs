//! The readers of all formats: documents in, records and findings out.

mod aios_manual_pages;
mod aios_records;
mod corpus;
mod detection;
mod large_documents;
mod manual_pages;
mod mistakes;
mod mutations;
mod records;
mod support;
mod tables;
mod vendor_formats;
mod writing;
