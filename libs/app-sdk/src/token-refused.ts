import { errors } from 'jose'

export type TokenRefusal =
  | 'missing'
  | 'malformed'
  | 'signature'
  | 'expired'
  | 'issuer'
  | 'audience'
  | 'purpose'
  | 'provider'
  | 'replayed'

/** A token that is not accepted. Answer 401. The message is safe to send and to log: it has no part of the token. */
export class TokenRefused extends Error {
  readonly reason: TokenRefusal

  constructor(reason: TokenRefusal, message: string) {
    super(message)
    this.name = 'TokenRefused'
    this.reason = reason
  }
}

/** The refusal that an error of jose means. Returns the error itself when it says nothing about the token. */
export function tokenRefusal(error: errors.JOSEError): Error {
  if (error instanceof errors.JWTExpired) return new TokenRefused('expired', 'the token has expired')
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'iss') return new TokenRefused('issuer', 'the token is of another issuer')
    if (error.claim === 'aud') return new TokenRefused('audience', 'the token is for another audience')
    return new TokenRefused('malformed', `the claim ${error.claim} is missing or not valid`)
  }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return new TokenRefused('signature', 'the token is not signed by EdDSA')
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey) {
    return new TokenRefused('signature', 'no key of the platform has signed the token')
  }
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return new TokenRefused('signature', 'the token does not name the key that has signed it')
  if (
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JOSENotSupported
  ) {
    return new TokenRefused('malformed', 'the token is not a JWT')
  }
  return error
}
