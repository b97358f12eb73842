import { X509Certificate } from 'node:crypto'
import { z } from 'zod'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** Certificates in PEM. To replace an authority, list both until all servers have a certificate of the new one. */
export const Certificates = z.string().refine((text) => {
  const found = text.match(CERTIFICATE) ?? []
  try {
    return found.map((pem) => new X509Certificate(pem)).length > 0
  } catch {
    return false
  }
}, 'must be certificates in PEM, one after the other')
