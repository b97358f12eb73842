import { ApiError } from '@backoffice/contracts/errors.ts'

/** 401 with the challenge that HTTP requires. */
export const invalidApiKey = (message: string): ApiError =>
  new ApiError('invalid_api_key', message, { headers: { 'www-authenticate': 'Bearer' } })

/** The token of an `Authorization: Bearer` header; undefined for any other text. */
export const tokenIn = (authorization: string): string | undefined => /^Bearer +(\S+) *$/i.exec(authorization)?.[1]

/** The token of an `Authorization: Bearer` header; undefined without the header. Throws `invalid_api_key` for another scheme. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const token = tokenIn(authorization)
  if (token === undefined) throw invalidApiKey('Authorization: must be Bearer <API_KEY>')
  return token
}
