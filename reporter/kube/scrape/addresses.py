"""
Check that an address is one that a pod can have before it is scraped.

Whoever may write a pod's status chooses where we connect to. So addresses that only this machine
or its node should reach are never read: loopback, link-local, and the metadata services of clouds.
"""

import ipaddress


METADATA_SERVICES = frozenset(
    map(
        ipaddress.ip_address,
        (
            "168.63.129.16",  # Azure, WireServer
            "100.100.100.200",  # Alibaba Cloud
            "192.0.0.192",  # Oracle Cloud
            "fd00:ec2::254",  # AWS; most others are link-local
            "fd20:ce::254",  # Google Cloud
        ),
    )
)
THIS_NETWORK = ipaddress.ip_network("0.0.0.0/8")
BROADCAST = ipaddress.ip_address("255.255.255.255")
"""Only this address of 240.0.0.0/4 is refused: some clusters give the others to pods."""


def is_pod_address(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return False
        if address.ipv4_mapped is not None:
            return is_pod_address(str(address.ipv4_mapped))
        if address.is_reserved or address.sixtofour is not None or address.teredo is not None:
            return False
    return address not in METADATA_SERVICES and not (
        address.is_loopback
        or address.is_link_local
        or address.is_unspecified
        or address.is_multicast
        or address in THIS_NETWORK
        or address == BROADCAST
    )


def format_url_host(address: str) -> str:
    return f"[{address}]" if ":" in address else address
