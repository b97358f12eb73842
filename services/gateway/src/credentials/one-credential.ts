import type { FastifyInstance } from 'fastify'
import { invalidApiKey } from './bearer-token.ts'

/**
 * Refuses requests with two Authorization headers as `invalid_api_key`, as those whose headers carry different keys (OP-05). Node reads
 * the first alone, and a proxy before the gateway may have checked the other.
 */
export function refuseTwoCredentials(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw: { rawHeaders } }) => {
    let count = 0
    for (let index = 0; index < rawHeaders.length; index += 2) {
      if (rawHeaders[index]?.toLowerCase() === 'authorization') count++
    }
    if (count > 1) throw invalidApiKey('Send one Authorization header')
  })
}
