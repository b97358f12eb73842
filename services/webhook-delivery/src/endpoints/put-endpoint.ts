import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { refuseForbiddenTarget } from '@backoffice/outbound/forbidden-target.ts'
import { targetUrl } from '@backoffice/outbound/target-url.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { SigningSecret } from '../secrets/signing-secret.ts'
import { type EndpointCreation, insertEndpoint } from './create-endpoint.ts'
import { ENDPOINT, endpointsChanged, newEndpoint } from './endpoint.ts'

/**
 * PUT /internal/endpoints/{id}: an id creates one endpoint, once. A repeated request neither undoes changes of the
 * merchant nor brings back a deleted endpoint. OP-62, OP-70, OP-75 and OP-99 hold as for endpoints of merchants.
 * `registerAppKey` says whose it is. It is made however many there are: an app has one of its manifest (OP-231).
 */
export const putEndpoint = (creation: EndpointCreation) =>
  operation({
    method: 'PUT',
    path: '/internal/endpoints/{id}',
    scope: 'internal',
    body: z.strictObject({
      url: targetUrl(creation.policy),
      enabled_events: ENDPOINT.shapes.create.enabled_events,
      secret: SigningSecret,
      description: ENDPOINT.shapes.answer.description,
      standard_signature: ENDPOINT.shapes.create.standard_signature,
    }),
    responses: { 204: null },

    async handle({ params, body: { secret, ...members }, now, inWorkspace }) {
      await refuseForbiddenTarget({ url: new URL(members.url), path: ['url'] }, creation.policy, creation.resolve)
      const endpoint = newEndpoint(params.id, members, now)
      return inWorkspace(async (tx) => {
        if (await takeEndpointId(tx, endpoint.id)) {
          await endpointsChanged(tx)
          await insertEndpoint(tx, { ...endpoint, madeBy: null }, secret, creation.keys)
        }
        return new Reply(204)
      })
    },
  })

/** Takes an id, once; false when it was taken. A creation and a deletion of the endpoint wait for each other here. */
export async function takeEndpointId(tx: Transaction, id: string): Promise<boolean> {
  const { count } = await tx`
    insert into app_endpoint (workspace_id, id) values (${tx.context.workspaceId}, ${id}) on conflict do nothing`
  return count > 0
}
