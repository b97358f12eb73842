import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import { INTERNAL_TOKEN_HEADER, tokenVerifier } from '@backoffice/http/internal-token.ts'
import type { AnyOperation } from '@backoffice/http/operation.ts'
import { createServiceApp } from '@backoffice/http/server.ts'
import { TokenSigner } from '@backoffice/http/token-signer.ts'
import { type Database, openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import postgres from 'postgres'
import { createProduct } from '../services/catalog/src/products/create-product.ts'

export interface Statement {
  readonly text: string
  readonly parameters: unknown[]
}

class RolledBack extends Error {}

/** Requests of one operation in a workspace. */
interface Requests {
  readonly operation: AnyOperation
  /** The path of the request with this index, for an operation with parameters in its path. */
  readonly pathOf?: (index: number) => string
  readonly workspaceId: string
  readonly bodies: readonly unknown[]
  /** The number of first bodies that are committed and not recorded: the others refer to their rows. */
  readonly committed: number
}

/** The statements of creating each product, except the first, whose options the others use. */
export const recordCreates = (url: string, bodies: readonly unknown[]): Promise<Statement[][]> =>
  recordRequests(url, { operation: createProduct, workspaceId: randomUUID(), bodies, committed: 1 })

/**
 * The statements of each request, recorded by running the operation and rolling it back, so that the same statements
 * can be sent again directly.
 */
export async function recordRequests(
  url: string,
  { operation, pathOf, workspaceId, bodies, committed }: Requests,
): Promise<Statement[][]> {
  let statements: Statement[] = []
  const db = openDatabase({
    url,
    applicationName: 'bench',
    onStatement: (text, parameters) => statements.push({ text, parameters }),
  })
  let isCommitting = committed > 0
  const rollingBack: Database = {
    ...db,
    inWorkspace: (context, work) =>
      db.inWorkspace(context, async (tx) => {
        const result = await work(tx)
        if (!isCommitting) throw new RolledBack()
        return result
      }),
  }
  const keys = generateKeyPairSync('ed25519')
  const app = createServiceApp({
    logger: createLogger('bench', 'silent'),
    db: rollingBack,
    operations: [operation],
    verifyToken: tokenVerifier({ audience: 'catalog', keys: new Map([['bench', keys.publicKey]]) }),
  })
  const signer = new TokenSigner({ issuer: 'bench', keyId: 'bench', privateKey: keys.privateKey })
  const caller = { workspaceId, livemode: true, keyId: 'bench', productStatuses: [...PRODUCT_STATUSES] }
  const token = operation.path.startsWith('/internal/')
    ? await signer.ownCall(caller, 'catalog', new Date())
    : await signer.forwarded({ ...caller, scopes: ['*'] }, 'catalog', new Date())
  const recorded: Statement[][] = []
  for (const [index, body] of bodies.entries()) {
    statements = []
    isCommitting = index < committed
    const headers = { [INTERNAL_TOKEN_HEADER]: token, 'content-type': 'application/json' }
    const { method, path } = operation
    const answer = await app.inject({ method, url: pathOf?.(index) ?? path, headers, payload: JSON.stringify(body) })
    if (statements.length === 0) throw new Error(`${method} ${path} was refused: ${answer.body}`)
    if (!isCommitting) recorded.push(statements)
  }
  await app.close()
  await db.stop?.()
  return recorded
}

/** Opens the connections that send recorded transactions as they are. */
export function rawSender(url: string, connections: number) {
  const sql = postgres(url, { max: connections, onnotice: () => undefined })
  return {
    /** Sends one recorded transaction: the statements between its `begin` and its end, all at once. */
    send: (transaction: readonly Statement[]) =>
      sql.begin((tx) =>
        transaction
          .slice(1, -1)
          .map(({ text, parameters }) => tx.unsafe(text, parameters as never[], { prepare: true })),
      ),
    stop: () => sql.end(),
  }
}
