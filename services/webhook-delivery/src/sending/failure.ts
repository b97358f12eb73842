/** Why an attempt did not deliver, for the one who looks at it (OP-66). */
type FailureClass = 'blocked' | 'dns' | 'refused' | 'tls' | 'timeout' | 'connection' | 'status'

export interface Failure {
  readonly class: FailureClass
  readonly message: string
}

/** A target whose address deliveries may not go to (OP-70). */
export class BlockedAddress extends Error {
  readonly code = 'BLOCKED_ADDRESS'

  constructor(host: string) {
    super(`${host} is not a public address`)
  }
}

const CLASS_OF_CODE: Readonly<Record<string, FailureClass>> = {
  BLOCKED_ADDRESS: 'blocked',
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  EAI_AGAIN: 'dns',
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EPROTO: 'tls',
}
const TLS_CODE = /^ERR_(TLS|SSL)_|^CERT_|CERTIFICATE|_CERT$|ISSUER_CERT|LEAF_SIGNATURE/

/** Classifies what broke an exchange off. */
export function failureOf(error: Error): Failure {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = CLASS_OF_CODE[code] ?? (TLS_CODE.test(code) ? 'tls' : 'connection')
  return { class: known, message: storable(error.message || code) }
}

/** PostgreSQL keeps neither NUL nor unpaired surrogates. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/** What a response's status says: undefined for 2xx; a redirect is a failure like any other status (OP-70). */
export function failureOfStatus(status: number): Failure | undefined {
  if (status >= 200 && status < 300) return undefined
  const isRedirect = status >= 300 && status < 400
  return { class: 'status', message: `answered ${status}${isRedirect ? ': redirects are not followed' : ''}` }
}
