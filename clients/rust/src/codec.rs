//! Requests that are sent without being copied: a call that may be sent again keeps its request.

use std::marker::PhantomData;
use std::sync::Arc;

use prost::Message;
use tonic::Status;
use tonic::codec::{Codec, EncodeBuf, Encoder};
use tonic_prost::ProstDecoder;

pub(crate) struct SharedCodec<Q, A>(PhantomData<(Q, A)>);

impl<Q, A> SharedCodec<Q, A> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<Q, A> Codec for SharedCodec<Q, A>
where
    Q: Message + 'static,
    A: Message + Default + 'static,
{
    type Encode = Arc<Q>;
    type Decode = A;
    type Encoder = SharedEncoder<Q>;
    type Decoder = ProstDecoder<A>;

    fn encoder(&mut self) -> Self::Encoder {
        SharedEncoder(PhantomData)
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstDecoder::default()
    }
}

pub(crate) struct SharedEncoder<Q>(PhantomData<Q>);

impl<Q: Message> Encoder for SharedEncoder<Q> {
    type Item = Arc<Q>;
    type Error = Status;

    fn encode(&mut self, item: Arc<Q>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }
}
