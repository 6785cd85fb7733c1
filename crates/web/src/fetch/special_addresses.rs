//! Which IP addresses are not on the public internet.
//!
//! An agent can be talked into fetching any URL, and a page can redirect anywhere. Without this
//! check, either could read services that trust this machine or its network: a database's web
//! page, a router, the credentials that clouds serve on 169.254.169.254. (The attack is known as
//! server-side request forgery.)
//!
//! IPv4 lists what is refused. IPv6 lists what is allowed, because only 2000::/3 has been assigned
//! so far. Some IPv6 addresses contain an IPv4 address that a gateway connects to; for those, the
//! IPv4 address decides.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks of IPv4 addresses that are not on the public internet, each with the length of its
/// prefix in bits. From IANA's *IPv4 Special-Purpose Address Registry*.
const SPECIAL_V4: &[(Ipv4Addr, u32)] = &[
    // "This network"; Linux connects 0.0.0.0 to this machine.
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    // Private networks, here and further down (RFC 1918).
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Between an internet provider and its customers (RFC 6598). Alibaba's metadata service is in
    // it.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    // This machine.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local, with the metadata services of clouds (RFC 3927).
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    // Azure's host agent, which serves credentials to virtual machines. A public address that
    // leads to the host from inside of Azure only.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    // IETF protocol assignments (RFC 6890). Oracle's metadata service is in it.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation, here and further down (RFC 5737).
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // Formerly the relays of 6to4 (RFC 7526).
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Measurements of network devices (RFC 2544).
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, reserved addresses and broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// Blocks in 2000::/3 that are not on the public internet, each with the length of its prefix in
/// bits.
const SPECIAL_V6: &[(Ipv6Addr, u32)] = &[
    // IETF protocol assignments. Among them Teredo (2001::/32), which contains an IPv4 address.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    // Documentation, as the last one.
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4, which contains an IPv4 address. It is deprecated, so all of it is refused.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Whether an address is not on the public internet.
pub fn is_special(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => SPECIAL_V4
            .iter()
            .any(|(block, bits)| (v4.to_bits() ^ block.to_bits()) >> (32 - bits) == 0),
        IpAddr::V6(v6) => is_special_v6(v6),
    }
}

fn is_special_v6(v6: Ipv6Addr) -> bool {
    let embedded = Ipv4Addr::from_bits(v6.to_bits() as u32);
    match v6.segments() {
        // IPv4-mapped addresses, and NAT64 under its well-known prefix (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => is_special(embedded.into()),
        [first, ..] if first & 0xe000 != 0x2000 => true,
        // ISATAP, a tunnel to the IPv4 address at the end (RFC 5214).
        [.., 0 | 0x200, 0x5efe, _, _] => is_special(embedded.into()),
        _ => SPECIAL_V6
            .iter()
            .any(|(block, bits)| (v6.to_bits() ^ block.to_bits()) >> (128 - bits) == 0),
    }
}

#[cfg(test)]
mod tests {
    use super::is_special;

    /// Both tables have the first and the last address of most blocks, and their neighbours.
    #[test]
    fn only_addresses_on_the_public_internet_are_not_special() {
        let special = "
            0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1
            127.255.255.254 169.254.169.254 168.63.129.16 100.100.100.200 192.0.0.192
            fd00:ec2::254 fd20:ce::254 172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1
            192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1
            239.1.2.3 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1
            ::ffff:10.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::10.1.2.3
            64:ff9b:1::8.8.8.8 100::1 2001::1 2001:0:7f00:1:: 2001:db8::1 2a00::5efe:10.0.0.1
            2a00::200:5efe:127.0.0.1 fe80::5efe:8.8.8.8 2002:7f00:1:: 2002:a00:1::1
            2002:808:808:: fc00::1 fd12:3456::1 fe80::1 febf::1 fec0::1 ff02::1 3fff::1 5f00::1
            4000::1
        ";
        let public = "
            1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255
            128.0.0.1 168.63.129.15 168.63.129.17 169.253.0.1 172.15.255.255 172.32.0.1 192.0.1.1 192.167.1.1 192.169.1.1
            198.17.0.1 198.20.0.1 223.255.255.255 ::ffff:8.8.8.8 2a00::5efe:8.8.8.8
            64:ff9b::8.8.8.8 2606:4700::1111 2001:4860:4860::8888 2a00:1450::1 2003::1 3ffe::1
        ";
        for address in special.split_whitespace() {
            assert!(is_special(address.parse().unwrap()), "{address} is special");
        }
        for address in public.split_whitespace() {
            assert!(!is_special(address.parse().unwrap()), "{address} is public");
        }
    }
}
