import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Parts } from '../app.ts'

const Body = z.object({ apiKey: z.string().min(1), webhookSecret: z.string().min(1).optional() })

/**
 * POST /install/provision: the platform delivers the workspace's key. A repeated call stores the same key again (App
 * rule 1). The key store encrypts it, and nothing logs it (App rule 2). The workspace is that of the token. This app
 * does not keep the key of before: payments wait until a new one is in force.
 */
export function addProvision(app: FastifyInstance, { tokens, keys }: Parts): void {
  app.post('/install/provision', async (request, reply) => {
    const { workspaceId } = await tokens.provision(request.headers.authorization)
    await keys.put(workspaceId, Body.parse(request.body))
    return reply.status(204).send()
  })
}
