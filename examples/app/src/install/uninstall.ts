import type { FastifyInstance } from 'fastify'
import type { Parts } from '../app.ts'
import { purgeWorkspace } from '../database.ts'

/**
 * POST /install/uninstall: purges everything of the workspace, which is that of the token. A repeated call finds
 * nothing and succeeds as well.
 */
export function addUninstall(app: FastifyInstance, { tokens, database }: Parts): void {
  app.post('/install/uninstall', async (request, reply) => {
    const { workspaceId } = await tokens.provision(request.headers.authorization)
    purgeWorkspace(database, workspaceId)
    return reply.status(204).send()
  })
}
