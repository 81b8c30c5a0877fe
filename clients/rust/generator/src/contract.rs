//! The parsed contract: descriptors and their comments.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::Path;

use prost_types::field_descriptor_proto::Type;
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto,
};

pub const PACKAGE: &str = "memsidecar.v1";

// Field numbers of descriptor.proto, which make up the path of a comment.
const MESSAGES: usize = 4;
const SERVICES: usize = 6;
const PARTS: usize = 2;

pub struct Contract {
    pub files: FileDescriptorSet,
    pub messages: BTreeMap<String, DescriptorProto>,
    comments: BTreeMap<String, String>,
}

impl Contract {
    pub fn read(protos: &Path) -> Result<Self, Box<dyn Error>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(protos.join("memsidecar/v1"))? {
            names.push(entry?.path());
        }
        names.sort();
        let mut files = protox::compile(names, [protos])?;
        let mut messages = BTreeMap::new();
        let mut comments = BTreeMap::new();
        for file in files.file.iter_mut().filter(|file| file.package() == PACKAGE) {
            escape_comments(file);
            messages.extend(
                file.message_type
                    .iter()
                    .map(|message| (message.name().to_owned(), message.clone())),
            );
            read_comments(file, &mut comments);
        }
        Ok(Self {
            files,
            messages,
            comments,
        })
    }

    /// Returns the comment of a field (`Message.content`), a service or an RPC (`MemoryService.Add`).
    pub fn comment(&self, of: &str) -> &str {
        self.comments.get(of).map_or("", String::as_str)
    }

    /// Returns all RPCs, each with the name of its service.
    pub fn methods(&self) -> impl Iterator<Item = (&str, &MethodDescriptorProto)> {
        let services = self.files.file.iter().flat_map(|file| &file.service);
        services.flat_map(|service| service.method.iter().map(move |method| (service.name(), method)))
    }

    /// Returns the messages that a caller sends: requests and their fields.
    pub fn sent(&self) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        for (_, method) in self.methods() {
            self.gather(short(method.input_type()), &mut found);
        }
        found
    }

    fn gather<'a>(&'a self, name: &'a str, found: &mut BTreeSet<&'a str>) {
        let Some(message) = self.messages.get(name) else { return };
        if !found.insert(name) {
            return;
        }
        for field in message.field.iter().filter(|field| field.r#type() == Type::Message) {
            self.gather(short(field.type_name()), found);
        }
    }

    pub fn field<'a>(&'a self, message: &str, name: &str) -> &'a FieldDescriptorProto {
        let fields = &self.messages[message].field;
        fields
            .iter()
            .find(|field| field.name() == name)
            .unwrap_or_else(|| panic!("{message} has no field {name}"))
    }
}

/// `Message` of `.memsidecar.v1.Message`.
pub fn short(type_name: &str) -> &str {
    type_name.rsplit('.').next().unwrap_or(type_name)
}

/// `add_batch` of `AddBatch`.
pub fn snake(name: &str) -> String {
    let mut found = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !found.is_empty() {
            found.push('_');
        }
        found.extend(letter.to_lowercase());
    }
    found
}

/// The lines of a comment, as Rust writes documentation.
pub fn documentation(text: &str) -> String {
    text.lines()
        .map(|line| format!("/// {line}").trim_end().to_owned() + "\n")
        .collect()
}

fn read_comments(file: &FileDescriptorProto, comments: &mut BTreeMap<String, String>) {
    let places = file.source_code_info.iter().flat_map(|info| &info.location);
    for place in places.filter(|place| place.leading_comments.is_some()) {
        let path: Vec<usize> = place.path.iter().filter_map(|&part| part.try_into().ok()).collect();
        let of = match path[..] {
            [MESSAGES, message, PARTS, field] => {
                let message = &file.message_type[message];
                format!("{}.{}", message.name(), message.field[field].name())
            }
            [SERVICES, service] => file.service[service].name().to_owned(),
            [SERVICES, service, PARTS, method] => {
                let service = &file.service[service];
                format!("{}.{}", service.name(), service.method[method].name())
            }
            _ => continue,
        };
        comments.insert(of, plain(place.leading_comments()));
    }
}

/// Removes the margin, and escapes brackets that rustdoc would take for links. (Prost does this itself.)
fn plain(comment: &str) -> String {
    let comment = comment.replace('[', "\\[");
    let lines: Vec<&str> = comment
        .lines()
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
        .collect();
    lines.join("\n").trim().to_owned()
}

/// Escapes text that rustdoc would take for HTML.
fn escape_comments(file: &mut FileDescriptorProto) {
    let places = file.source_code_info.iter_mut().flat_map(|info| &mut info.location);
    for comment in places.filter_map(|place| place.leading_comments.as_mut()) {
        *comment = comment.replace('<', "\\<");
    }
}
