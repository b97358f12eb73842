import { randomBytes, randomUUID } from 'node:crypto'
import { stackSecrets } from '@backoffice/local/secrets.ts'
import { SecretKeys, sealSecret } from '@backoffice/secrets/secret-box.ts'
import { anEvent, bodyOf } from './events.ts'
import { deliverySql, type WebhookPlace } from './subscribe.ts'

const ENDPOINTS_EACH = 500
const URL_OF_NOBODY = 'http://127.0.0.1:9/'

/**
 * Fills workspaces with endpoints, each with a delivery whose retry is due in an hour or later. Returns the function
 * that deletes them.
 */
export async function seedEndpoints(place: WebhookPlace, count: number): Promise<() => Promise<void>> {
  const sql = deliverySql(place)
  const keys = SecretKeys.parse(stackSecrets(place.directory).webhookSecretKey)
  const workspaceIds = Array.from({ length: count / ENDPOINTS_EACH }, () => randomUUID())
  for (const workspaceId of workspaceIds) {
    const event = anEvent(workspaceId)
    const endpoints = Array.from({ length: ENDPOINTS_EACH }, () => {
      const id = randomUUID()
      const { keyId, sealed } = sealSecret(keys, randomBytes(32), `${workspaceId}/${id}`)
      return { id, secret_key_id: keyId, sealed_secret: `\\x${sealed.toString('hex')}` }
    })
    await sql`
      with known as (insert into endpoint_set (workspace_id, version) values (${workspaceId}, 1)),
      happened as (
        insert into event (workspace_id, id, type, key, body, occurred_at)
        values (${workspaceId}, ${event.id}, ${event.type}, ${event.data.id}, ${bodyOf(event)}, now())
      ),
      made as (
        insert into endpoint (
          workspace_id, id, url, enabled_events, secret_key_id, sealed_secret, created_at, updated_at
        )
        select ${workspaceId}, id, ${URL_OF_NOBODY}, '{*}', secret_key_id, sealed_secret, now(), now()
        from json_to_recordset(${JSON.stringify(endpoints)}::text::json)
          as added (id uuid, secret_key_id text, sealed_secret bytea)
        returning workspace_id, id
      )
      insert into delivery (
        workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at
      )
      select workspace_id, id, uuidv7(), ${event.id}, ${event.type}, 1, now() + interval '1 hour' * (1 + 5 * random()), now()
      from made`
  }
  return async () => {
    for (const table of ['delivery', 'event', 'endpoint', 'endpoint_set'])
      await sql`delete from ${sql(table)} where workspace_id = any(${workspaceIds}::uuid[])`
    await sql.end()
  }
}
