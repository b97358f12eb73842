/** Codes of errors about a certificate, and of a server that answers something other than TLS. */
const TLS_CODES =
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|ERR_TLS_|ERR_SSL_|EPROTO)/
/** Those of a certificate that the server has to renew: no setting helps. */
const OUT_OF_DATE = /^C(ERT|RL)_(HAS_EXPIRED|NOT_YET_VALID)$/
/** Node's message when the server closes the connection instead of answering the handshake. Its code is ECONNRESET. */
const NO_TLS = /before secure TLS connection was established/

/** Why no TLS connection can be made. */
export interface TlsRefusal {
  /** In one line. */
  readonly reason: string
  /** Whether it may end with the same settings. */
  readonly mayEnd: boolean
}

/** The refusal that an error is; undefined for any other error, such as of a server that is away. */
export function tlsRefusal(error: unknown): TlsRefusal | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = 'code' in each ? String(each.code) : ''
    if (TLS_CODES.test(code))
      return { reason: `${each.message.trim().split('\n')[0]} (${code})`, mayEnd: OUT_OF_DATE.test(code) }
    // So does a proxy whose server is away.
    if (NO_TLS.test(each.message)) return { reason: 'the server does not speak TLS, or is away', mayEnd: true }
  }
  return undefined
}
