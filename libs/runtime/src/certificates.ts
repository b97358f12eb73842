import { X509Certificate } from 'node:crypto'
import { z } from 'zod'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** Certificates in PEM. To replace an authority, list both until all servers have a certificate of the new one. */
export const Certificates = z.string().refine(areCertificates, 'must be certificates in PEM, one after the other')

function areCertificates(text: string): boolean {
  const found = text.match(CERTIFICATE) ?? []
  return found.length > 0 && found.every(isCertificate)
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}
