import type { PageQuery } from '@backoffice/contracts/pagination.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { RouteDeclaration } from '@backoffice/http/route.ts'
import type { z } from 'zod'
import { type AnyAdminOperation, adminOperation } from './admin-operation.ts'

interface AppsDeclaration extends RouteDeclaration<z.ZodObject<{ id: z.ZodType<string> }>, typeof PageQuery> {
  readonly summary: string
  /** One answer. */
  readonly responses: Readonly<Record<number, z.ZodType | null>>
}

/**
 * Declares an admin operation that apps answers (OP-81): the same request, under `/internal` instead of `/admin/v1`, in
 * the operator's name.
 */
export const appsOperation = (declaration: AppsDeclaration): AnyAdminOperation =>
  adminOperation({
    ...declaration,
    async handle({ params, query, body, askApps }) {
      const { method, path, responses } = declaration
      const internal = `/internal/${path.replace('/admin/v1/', '').replace('{id}', params.id)}` as const
      const [[status, answer = null] = []] = Object.entries(responses)
      return new Reply(Number(status), await askApps({ method, path: internal, answer, query, body }))
    },
  })
