import { isIP } from 'node:net'

/** The address of a server with the role that connects, and the certificates that verify the server. */
export interface DatabaseServer {
  readonly url: string
  /** Certificates of authorities in PEM. Without them `sslmode` of the URL decides; plain unless it says otherwise. */
  readonly ca?: string | undefined
}

/**
 * The drivers' option for TLS: the certificate has to be signed by an authority and to name the host of the URL
 * (`verify-full`). The drivers never fall back to a plain connection.
 */
export function tlsTo({ url, ca }: DatabaseServer) {
  if (ca === undefined) return {}
  const { hostname } = new URL(url)
  // The drivers pass the name of a host to TLS by themselves, but not an IP address.
  return { ssl: { ca, rejectUnauthorized: true, ...(isIP(hostname) > 0 && { host: hostname }) } }
}
