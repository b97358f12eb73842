import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Parts } from '../app.ts'

const Body = z.object({ apiKey: z.string().min(1), webhookSecret: z.string().min(1).optional() })

/**
 * POST /install/provision: the platform delivers the workspace's key. A repeated call stores the same key again (App
 * rule 1). The key store encrypts it, and nothing logs it (App rule 2). The workspace is that of the token. The former
 * credentials stay beside new ones, which are not in force yet, until a call with the new key has succeeded.
 */
export function addProvision(app: FastifyInstance, { tokens, keys, formerKeys }: Parts): void {
  app.post('/install/provision', async (request, reply) => {
    const { workspaceId } = await tokens.provision(request.headers.authorization)
    const credentials = Body.parse(request.body)
    const present = await keys.get(workspaceId)
    const isNew = present && present.apiKey !== credentials.apiKey
    // Of several new ones none may have come into force.
    if (isNew && !(await formerKeys.get(workspaceId))) await formerKeys.put(workspaceId, present)
    await keys.put(workspaceId, credentials)
    return reply.status(204).send()
  })
}
