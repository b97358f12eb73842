import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { parse, stringify } from 'uuid'

/** A row that a browser names: a one-time link or a session, with its workspace. */
export interface Reference {
  readonly workspaceId: string
  readonly id: string
}

/** Signs what browsers send back, so that a forged link or cookie is refused without a look-up. */
export interface SignedIds {
  /** The text of a link or a cookie. */
  sign(purpose: 'link' | 'session', reference: Reference): string
  /** The row that a text names; undefined when this platform has not signed it for this purpose. */
  read(purpose: 'link' | 'session', text: string | undefined): Reference | undefined
  /** The token that forms and scripts of a session's pages send along (OWASP: HMAC based token pattern). */
  csrfToken(session: Reference): string
  isCsrfToken(session: Reference, given: string | null | undefined): boolean
}

const ID_BYTES = 16
const MAC_BYTES = 32

/** `privateKey` is the one of the internal token, which all replicas have; the key of these signatures is derived from it. */
export function signedIds(privateKey: string): SignedIds {
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(privateKey, 'base64'), '', 'gateway pages', MAC_BYTES))
  const bytesOf = ({ id, workspaceId }: Reference) => Buffer.concat([parse(id), parse(workspaceId)])
  const mac = (purpose: string, reference: Buffer) =>
    createHmac('sha256', key).update(purpose).update(reference).digest()
  const csrf = (session: Reference) => mac('csrf', bytesOf(session))

  return {
    sign(purpose, reference) {
      const bytes = bytesOf(reference)
      return Buffer.concat([bytes, mac(purpose, bytes)]).toString('base64url')
    },
    read(purpose, text = '') {
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length !== 2 * ID_BYTES + MAC_BYTES || bytes.toString('base64url') !== text) return undefined
      const reference = bytes.subarray(0, 2 * ID_BYTES)
      if (!timingSafeEqual(bytes.subarray(2 * ID_BYTES), mac(purpose, reference))) return undefined
      return { id: stringify(reference.subarray(0, ID_BYTES)), workspaceId: stringify(reference.subarray(ID_BYTES)) }
    },
    csrfToken: (session) => csrf(session).toString('base64url'),
    isCsrfToken(session, given) {
      const bytes = Buffer.from(given ?? '', 'base64url')
      return bytes.length === MAC_BYTES && timingSafeEqual(bytes, csrf(session))
    },
  }
}
