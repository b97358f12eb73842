import { ApiError, type ErrorReason } from '@backoffice/contracts/errors.ts'
import type { FastifyInstance } from 'fastify'

/** 401 with the challenge that HTTP requires. */
export const invalidApiKey = (message: string, errorReason?: ErrorReason<'invalid_api_key'>): ApiError =>
  new ApiError('invalid_api_key', message, { headers: { 'www-authenticate': 'Bearer' }, errorReason })

/** The token of an `Authorization: Bearer` header; undefined for any other text. */
export const tokenIn = (authorization: string): string | undefined => /^Bearer +(\S+) *$/i.exec(authorization)?.[1]

/** As `tokenIn`; undefined without the header. Throws `invalid_api_key` for another scheme. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const token = tokenIn(authorization)
  if (token === undefined) throw invalidApiKey('Authorization: must be Bearer <API_KEY>')
  return token
}

/**
 * Refuses requests with two Authorization headers as `invalid_api_key`, as those whose headers carry different keys
 * (OP-05). Node reads the first alone, and a proxy before the gateway may have checked the other.
 */
export function refuseTwoCredentials(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw: { rawHeaders } }) => {
    const names = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'authorization')
    if (names.length > 1) throw invalidApiKey('Send one Authorization header')
  })
}
