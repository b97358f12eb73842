/** Why a request has no 2xx answer, for the one who chose its address (OP-66). */
export const FAILURE_CLASSES = ['blocked', 'dns', 'refused', 'tls', 'timeout', 'connection', 'status'] as const
export type FailureClass = (typeof FAILURE_CLASSES)[number]

export interface Failure {
  readonly class: FailureClass
  readonly message: string
}

/** A failure that this library finds itself, such as a forbidden address. The receiver's owner reads the message. */
export class SendingError extends Error {
  readonly failureClass: FailureClass

  constructor(failureClass: FailureClass, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failureClass = failureClass
  }
}

/** A target whose address requests may not go to (OP-70). */
export const blockedAddress = (host: string) => new SendingError('blocked', `${host} is not a public address`)

/** Codes of the system, of TLS, and of undici. */
const CLASS_OF_CODE: Readonly<Record<string, FailureClass>> = {
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EPROTO: 'tls',
}
const TLS_CODE =
  /^ERR_(TLS|SSL)_|CERT|CRL|LEAF_SIGNATURE|ISSUER_PUBLIC_KEY|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH/
const MESSAGE_OF_CODE: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the response are longer than 16 KiB',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the body of the response is not as long as its Content-Length',
}
/** Longer messages are cut: an error about a certificate, for example, may list any number of names. */
const MESSAGE_LENGTH = 500

/** Classifies the error that ended an exchange. */
export function failureOf(error: Error): Failure {
  if (error instanceof SendingError) return { class: error.failureClass, message: storable(error.message) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = CLASS_OF_CODE[code] ?? (TLS_CODE.test(code) ? 'tls' : 'connection')
  return { class: known, message: storable(MESSAGE_OF_CODE[code] ?? messageOf(error, code)) }
}

function messageOf(error: Error, code: string): string {
  // When all of a name's addresses failed, each has its own error and the whole has no message.
  if (error instanceof AggregateError) return error.errors.map(({ message }) => message).join(', ')
  if (code === 'UND_ERR_SOCKET') return `the connection broke off: ${error.message}`
  // Node adds advice for whoever runs this process.
  return error.message.replace(/; if the root CA is installed locally.*/, '') || code
}

/** PostgreSQL keeps neither NUL nor unpaired surrogates. */
const storable = (text: string): string => text.slice(0, MESSAGE_LENGTH).replaceAll('\0', '').toWellFormed()

/** What a response's status says: undefined for 2xx; a redirect is a failure like any other status (OP-70). */
export function failureOfStatus(status: number): Failure | undefined {
  if (status >= 200 && status < 300) return undefined
  const isRedirect = status >= 300 && status < 400
  return { class: 'status', message: `answered ${status}${isRedirect ? ': redirects are not followed' : ''}` }
}
