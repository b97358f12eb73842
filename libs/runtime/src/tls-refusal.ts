/** Codes of errors about a certificate, and of a server that answers something other than TLS. */
const TLS_CODES =
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|ERR_TLS_|ERR_SSL_|EPROTO)/
/** Node's message when the server closes the connection instead of answering the handshake. Its code is ECONNRESET. */
const NO_TLS = /before secure TLS connection was established/

/** Why no TLS connection can be made, in one line; undefined for any other error, such as of a server that is away. */
export function tlsRefusal(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = 'code' in each ? String(each.code) : ''
    if (TLS_CODES.test(code)) return `${each.message.trim().split('\n')[0]} (${code})`
    if (NO_TLS.test(each.message)) return 'the server does not speak TLS'
  }
  return undefined
}
