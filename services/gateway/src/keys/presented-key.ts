import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { isWellFormed } from './key-format.ts'

/** 401 with the challenge HTTP asks for. */
export const invalidApiKey = (message: string): ApiError =>
  new ApiError('invalid_api_key', message, { headers: { 'www-authenticate': 'Bearer' } })

/**
 * The well-formed API key a request brings as `Authorization: Bearer` or `X-Api-Key`. Throws `invalid_api_key` when there
 * is none, when it is malformed, and when the two headers do not agree (spec: Authentication 1; OP-05).
 */
export function presentedKey(headers: IncomingHttpHeaders): string {
  const bearer = bearerToken(headers.authorization)
  const header = headers['x-api-key']
  const key = bearer ?? header
  if (key === undefined) throw invalidApiKey('Send an API key: Authorization: Bearer <API_KEY>')
  if (header !== undefined && header !== key) {
    throw invalidApiKey('Authorization and X-Api-Key carry different keys; send one of them')
  }
  if (typeof key !== 'string' || !isWellFormed(key)) throw invalidApiKey('The API key is malformed')
  return key
}

/** The token of an `Authorization: Bearer` header. Throws `invalid_api_key` for another scheme. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
  if (token === undefined) throw invalidApiKey('Authorization: must be Bearer <API_KEY>')
  return token
}
