//! The PROXY protocol, versions 1 and 2: a proxy that does not speak HTTP says who connected to it, before anything else.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncRead, AsyncReadExt as _};

const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// The longest line of version 1, with its end.
const LONGEST_LINE: usize = 107;
/// Two addresses with their ports, in version 2.
const IPV4_BLOCK: usize = 12;
const IPV6_BLOCK: usize = 36;
/// The most that addresses and extensions of version 2 may be.
const MOST_BYTES: usize = 4096;

/// The extension of version 2 that tells of TLS, and the bit in it that says that the client spoke it.
const TLS: u8 = 0x20;
const SPOKE_TLS: u8 = 0x01;

/// What a proxy says of a connection.
#[derive(Default)]
pub(super) struct ProxyHeader {
    /// Who connected; `None` when the proxy speaks for itself, as for a health check.
    pub(super) client: Option<IpAddr>,
    /// Whether the client spoke TLS with it.
    pub(super) by_tls: bool,
}

/// Reads what the proxy says, and not one byte more.
pub(super) async fn read<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<ProxyHeader> {
    let mut first = [0; 12];
    stream.read_exact(&mut first).await?;
    if &first == SIGNATURE {
        return binary(stream).await;
    }
    if first.starts_with(b"PROXY ") {
        let client = text(stream, first.to_vec()).await?;
        return Ok(ProxyHeader {
            client,
            ..ProxyHeader::default()
        });
    }
    Err(protocol_error())
}

async fn text<S: AsyncRead + Unpin>(
    stream: &mut S,
    mut line: Vec<u8>,
) -> io::Result<Option<IpAddr>> {
    while !line.ends_with(b"\r\n") {
        if line.len() >= LONGEST_LINE {
            return Err(protocol_error());
        }
        line.push(stream.read_u8().await?);
    }
    let line = std::str::from_utf8(&line).map_err(|_| protocol_error())?;
    let words: Vec<&str> = line.trim_end().split(' ').collect();
    match words.as_slice() {
        ["PROXY", "UNKNOWN", ..] => Ok(None),
        ["PROXY", "TCP4", source, _, _, _] => source
            .parse()
            .map(|ip: Ipv4Addr| Some(ip.into()))
            .map_err(|_| protocol_error()),
        ["PROXY", "TCP6", source, _, _, _] => source
            .parse()
            .map(|ip: Ipv6Addr| Some(IpAddr::from(ip).to_canonical()))
            .map_err(|_| protocol_error()),
        _ => Err(protocol_error()),
    }
}

async fn binary<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<ProxyHeader> {
    let command = stream.read_u8().await?;
    let family = stream.read_u8().await?;
    let length = usize::from(stream.read_u16().await?);
    if command >> 4 != 2 || length > MOST_BYTES {
        return Err(protocol_error());
    }
    let mut rest = vec![0; length];
    stream.read_exact(&mut rest).await?;
    let (client, extensions) = match (command & 0xf, family >> 4) {
        (0, _) | (1, 0 | 3) => return Ok(ProxyHeader::default()),
        (1, 1) => {
            let source: [u8; 4] = part(&rest, IPV4_BLOCK)?;
            (source.into(), &rest[IPV4_BLOCK..])
        }
        (1, 2) => {
            let source: [u8; 16] = part(&rest, IPV6_BLOCK)?;
            (IpAddr::from(source).to_canonical(), &rest[IPV6_BLOCK..])
        }
        _ => return Err(protocol_error()),
    };
    Ok(ProxyHeader {
        client: Some(client),
        by_tls: has_tls_extension(extensions),
    })
}

/// Whether the extension for TLS is among those that follow the addresses: a kind, a length and a value each. What cannot be
/// read says nothing.
fn has_tls_extension(mut extensions: &[u8]) -> bool {
    while let [kind, high, low, rest @ ..] = extensions {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let Some((value, others)) = rest.split_at_checked(length) else {
            return false;
        };
        if *kind == TLS {
            return value.first().is_some_and(|bits| bits & SPOKE_TLS != 0);
        }
        extensions = others;
    }
    false
}

/// The first bytes of an address block that has to be this long at least.
fn part<const N: usize>(bytes: &[u8], least: usize) -> io::Result<[u8; N]> {
    let first = bytes.get(..N).filter(|_| bytes.len() >= least);
    first
        .and_then(|first| first.try_into().ok())
        .ok_or_else(protocol_error)
}

fn protocol_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not the PROXY protocol")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn peer_in(mut bytes: &[u8]) -> Result<(Option<String>, usize), io::ErrorKind> {
        let told = read(&mut bytes).await.map_err(|error| error.kind())?;
        Ok((told.client.map(|address| address.to_string()), bytes.len()))
    }

    fn binary(command: u8, family: u8, addresses: &[u8]) -> Vec<u8> {
        let length = u16::try_from(addresses.len()).expect("short");
        [
            SIGNATURE.as_slice(),
            &[0x20 | command, family],
            &length.to_be_bytes(),
            addresses,
            b"GET",
        ]
        .concat()
    }

    #[tokio::test]
    async fn both_versions_name_the_client_and_leave_the_rest_unread() {
        let line = b"PROXY TCP4 198.51.100.1 10.0.0.1 4711 443\r\nGET";
        assert_eq!(peer_in(line).await, Ok((Some("198.51.100.1".into()), 3)));
        let line = b"PROXY TCP6 2001:db8::1 ::1 4711 443\r\nGET";
        assert_eq!(peer_in(line).await, Ok((Some("2001:db8::1".into()), 3)));
        assert_eq!(peer_in(b"PROXY UNKNOWN\r\nGET").await, Ok((None, 3)));
        let four = [198, 51, 100, 1, 10, 0, 0, 1, 0x12, 0x67, 1, 187];
        assert_eq!(
            peer_in(&binary(1, 0x11, &four)).await,
            Ok((Some("198.51.100.1".into()), 3))
        );
        let mut six = [0; 40];
        six[..2].copy_from_slice(&[0x20, 0x01]);
        six[15] = 1;
        assert_eq!(
            peer_in(&binary(1, 0x21, &six)).await,
            Ok((Some("2001::1".into()), 3))
        );
        assert_eq!(peer_in(&binary(0, 0, &[])).await, Ok((None, 3)));
    }

    #[test]
    fn the_extension_for_tls_is_found_among_others() {
        for (extensions, by_tls) in [
            (vec![TLS, 0, 5, 1, 0, 0, 0, 0], true),
            (vec![4, 0, 1, 9, TLS, 0, 5, 7, 0, 0, 0, 0], true),
            (vec![TLS, 0, 5, 0, 0, 0, 0, 0], false),
            (vec![TLS, 0, 0], false),
            (vec![4, 0, 9, TLS, 0, 5, 1], false),
            (vec![TLS, 0, 5, 1], false),
            (vec![TLS], false),
            (vec![], false),
        ] {
            assert_eq!(has_tls_extension(&extensions), by_tls, "{extensions:?}");
        }
    }

    #[tokio::test]
    async fn everything_else_is_refused() {
        let invalid = Err(io::ErrorKind::InvalidData);
        for bytes in [
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
            b"PROXY TCP4 nonsense 10.0.0.1 1 2\r\n".to_vec(),
            b"PROXY TCP4 198.51.100.1\r\n".to_vec(),
            [b"PROXY TCP4 ".as_slice(), &[b'1'; 200]].concat(),
            binary(1, 0x11, &[1, 2, 3]),
            binary(5, 0x11, &[0; 12]),
            binary(1, 0x11, &vec![0; 5000]),
        ] {
            assert_eq!(
                peer_in(&bytes).await,
                invalid,
                "{:?}",
                String::from_utf8_lossy(&bytes)
            );
        }
        assert_eq!(peer_in(b"PROX").await, Err(io::ErrorKind::UnexpectedEof));
    }
}
