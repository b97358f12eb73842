import { describe, test } from 'vitest'
import { CHROMIUM } from '../testing/chromium.ts'
import { consoleOf } from '../testing/console.ts'
import { importsOf } from '../testing/imports.ts'
import { sharedStack } from '../testing/stack.ts'
import { newWorkspace } from '../testing/workspaces.ts'

describe('the overview', async () => {
  if (CHROMIUM === undefined) return void test.skip('Chromium is not installed here', () => undefined)
  const stack = await sharedStack()

  test('the console opens with what waits for a decision, and leads there', async () => {
    const workspace = await newWorkspace(stack.description())
    const { see, click, open, expectUsable } = await consoleOf(stack.description().gateway, workspace.key)
    await see('Nothing. Failing endpoints and waiting imports appear here.')
    const imports = importsOf(stack, workspace)
    const { body } = await imports.upload('products', 'sku,name,stock\nA,Mug,many\n')
    await imports.atRest(body.id)
    await open('/')
    await see('Import rows.csv: it has rows with errors')
    await see('Webhook endpoints')
    const add = { url: 'http://127.0.0.1:9/late', enabled_events: ['tag.deleted'] }
    const { body: first } = await workspace.api<{ id: string }>('POST', '/v1/webhooks', add)
    for (let count = 0; count < 20; count++)
      await workspace.api('POST', '/v1/webhooks', { ...add, url: 'http://127.0.0.1:9/' })
    await stack.sql`
      update webhook_delivery.endpoint_health set state = 'FAILING', reason = 'no_success', since = now() where endpoint_id = ${first.id}`
    await open('/')
    await see('Endpoint http://127.0.0.1:9/late')
    await click('The numbers of each day')
    await expectUsable('overview')
    await click('Import rows.csv: it has rows with errors')
    await see('rows.csv')
    await click('Apps')
    await see('No apps')
    await expectUsable('apps')
  })
})
