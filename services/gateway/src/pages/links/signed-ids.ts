import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { SigningKey } from '@backoffice/secrets/signing-keys.ts'
import { parse, stringify } from 'uuid'

/** A row that a browser names: a one-time link or a session, with its workspace. */
export interface Reference {
  readonly workspaceId: string
  readonly id: string
}

type Purpose = 'link' | 'session'

const ID_BYTES = 16
const MAC_BYTES = 32

/**
 * Signs what browsers send back, so that a forged link or cookie is refused without a look-up. `keys` are those of the
 * internal token, which all replicas have; the keys of these signatures are derived from them. The first signs, and
 * what any of them has signed is accepted, so that links and sessions outlive a change of the key.
 */
export function signedIds(keys: readonly SigningKey[]) {
  const derived = keys.map(({ privateKey }) => {
    const secret = privateKey.export({ format: 'der', type: 'pkcs8' })
    return Buffer.from(hkdfSync('sha256', secret, '', 'gateway pages', MAC_BYTES))
  })
  const bytesOf = ({ id, workspaceId }: Reference) => Buffer.concat([parse(id), parse(workspaceId)])
  const macs = (purpose: string, reference: Buffer) =>
    derived.map((key) => createHmac('sha256', key).update(purpose).update(reference).digest())
  const mac = (purpose: string, reference: Buffer) => macs(purpose, reference)[0] as Buffer
  const isMac = (given: Buffer, purpose: string, reference: Buffer) =>
    macs(purpose, reference).some((one) => timingSafeEqual(given, one))

  return {
    /** The text of a link or a cookie. */
    sign(purpose: Purpose, reference: Reference): string {
      const bytes = bytesOf(reference)
      return Buffer.concat([bytes, mac(purpose, bytes)]).toString('base64url')
    },
    /** The row that a text names; undefined when this platform has not signed it for this purpose. */
    read(purpose: Purpose, text = ''): Reference | undefined {
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length !== 2 * ID_BYTES + MAC_BYTES || bytes.toString('base64url') !== text) return undefined
      const reference = bytes.subarray(0, 2 * ID_BYTES)
      if (!isMac(bytes.subarray(2 * ID_BYTES), purpose, reference)) return undefined
      return { id: stringify(reference.subarray(0, ID_BYTES)), workspaceId: stringify(reference.subarray(ID_BYTES)) }
    },
    /** The token that forms and scripts of a session's pages send along (OWASP: HMAC based token pattern). */
    csrfToken: (session: Reference): string => mac('csrf', bytesOf(session)).toString('base64url'),
    isCsrfToken(session: Reference, given: string | null | undefined): boolean {
      const bytes = Buffer.from(given ?? '', 'base64url')
      return bytes.length === MAC_BYTES && isMac(bytes, 'csrf', bytesOf(session))
    },
  }
}
export type SignedIds = ReturnType<typeof signedIds>
