//! What follows from the contract, made by `./generate.sh`.

pub(crate) mod messages;
mod methods;
mod setters;
