import { eventually } from '@backoffice/testing/eventually.ts'
import type { Page } from 'puppeteer-core'
import { describe, expect, test } from 'vitest'
import { apiWith } from '../testing/api.ts'
import { CHROMIUM } from '../testing/chromium.ts'
import { consoleOf } from '../testing/console.ts'
import { sharedStack } from '../testing/stack.ts'

const REASON = 'ticket 7: the merchant asked for a draft'

describe('the pages of operators', async () => {
  if (CHROMIUM === undefined) return void test.skip('Chromium is not installed here', () => undefined)
  const { gateway, admin_token } = (await sharedStack()).description()
  const admin = apiWith(gateway, admin_token)
  const tag = crypto.randomUUID().slice(0, 8)
  const { body: operator } = await admin<{ token: string }>('POST', '/admin/v1/operators', { name: `ada-${tag}` })

  test('an operator makes and revokes a key, opens a sandbox for a reason, and finds that in the audit log', async () => {
    const name = `Shop ${tag} <img src=x onerror=alert(1)> ${'x'.repeat(150)} ‮thgir`
    const { page, see, click, fill, text, expectUsable } = await consoleOf(gateway, operator.token)
    await click('New workspace')
    await fill('Name', name)
    await click('Create')
    await see('The workspace has no key yet.')
    const live = new URL(page.url()).pathname.split('/').at(-1)

    await click('Workspaces')
    await fill('Search', tag)
    await page.keyboard.press('Enter')
    await see('1 in all')
    await expectUsable('operators-workspaces')
    await page.locator(`::-p-text(Shop ${tag})`).click()

    await click('New key')
    await fill('Name, for whom it is', 'Storefront')
    await page.locator('::-p-aria([name="everything"][role="checkbox"])').click()
    await click('Create')
    await see('It is not shown again.')
    const key = String(await page.$eval('dialog pre', ({ textContent }) => textContent))
    expect((await apiWith(gateway, key)('GET', '/v1/me')).body).toMatchObject({ workspace: { id: live } })
    await click('Done')
    await expectUsable('operators-workspace')
    await click('Revoke')
    await page.locator('dialog .danger').click()
    await see('It works no more.')
    await eventually('the key is refused', async () => (await apiWith(gateway, key)('GET', '/v1/me')).status === 401)
    await click('Leaked keys')
    await fill('The text that was found', key)
    await click('Identify')
    await see('ended')
    await expectUsable('operators-leaks')
    await page.goBack()

    await click("Open the sandbox's page")
    await see('Open the live workspace')
    await click('Open workspace')
    await fill('Reason', 'ticket 7')
    const opened = new Promise<Page | null>((resolve) => page.once('popup', resolve))
    await click('Open')
    await makeDraft(await opened)

    await click('Audit')
    await fill('Action', 'support.written')
    await page.keyboard.press('Enter')
    await fill('Actor', `ada-${tag}`)
    await page.keyboard.press('Enter')
    await see(REASON)
    expect(await text()).toContain('POST /v1/sandbox/apps')
    await expectUsable('operators-audit')
    await click('System')
    await see('None. Records that a consumer cannot process appear here.')
    await page.locator('::-p-aria([name="Run check-apps"])').click()
    await see('check-apps runs.')
    await expectUsable('operators-system')
  })

  test('an operator sees all keys of a workspace, page by page', async () => {
    const { body } = await admin<{ id: string }>('POST', '/admin/v1/workspaces', { name: `Keys ${tag}` })
    for (const name of ['The oldest', ...Array.from({ length: 20 }, (_, number) => `Later ${number}`)])
      await admin('POST', `/admin/v1/workspaces/${body.id}/keys`, { name, scopes: ['*'] })
    const { page, see, click, text } = await consoleOf(gateway, operator.token, `/operators/workspaces/${body.id}`)
    await see('21 in all')
    expect(await text()).not.toContain('The oldest')
    await click('Next')
    await see('The oldest')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Next')
    await click('Previous')
    await see('Later 19')
  })

  test('a key that is asked for again without an answer is the same one, and a dialog has room for its name', async () => {
    const { body } = await admin<{ id: string }>('POST', '/admin/v1/workspaces', { name: `Again ${tag}` })
    const start = `/operators/workspaces/${body.id}`
    const { page, see, click, confirm, fill } = await consoleOf(gateway, operator.token, start)
    const keys: unknown[] = []
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      if (request.method() !== 'POST') return request.continue()
      keys.push(request.headers()['idempotency-key'])
      const lost = { status: 503, headers: { 'x-request-id': 'of-the-gateway' } }
      return keys.length === 1 ? request.respond(lost) : request.continue()
    })
    await click('New key')
    await fill('Name, for whom it is', 'W'.repeat(80))
    await page.select('dialog [name=days]', '30')
    await page.locator('::-p-aria([name="everything"][role="checkbox"])').click()
    await confirm('Create')
    await see('Try again; it is done once. Request of-the-gateway')
    await confirm('Create')
    await see('It is not shown again.')
    expect(keys).toEqual([expect.any(String), keys[0]])
    await click('Done')
    await click('Revoke')
    await page.waitForSelector('dialog .danger')
    expect(
      await page.evaluate(
        '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector("dialog"))',
      ),
    ).toBe(0)
  })
})

/** As support in a merchant's sandbox: registers a draft of an app, for a reason. */
async function makeDraft(page: Page | null): Promise<void> {
  if (page === null) throw new Error('the workspace did not open')
  const press = (name: string) => page.locator(`::-p-xpath(//*[self::button or self::a][normalize-space()="${name}"])`)
  await press('Open the console').click()
  await page.locator('::-p-text(Support by)').wait()
  await press('Apps').click()
  await press('New draft').click()
  await page.locator('::-p-aria(Origin of the app)').fill('https://app.example.com')
  await press('Create').click()
  await page.locator('::-p-aria(Reason, for the audit log)').fill(REASON)
  await press('Send POST').click()
  await page.locator('::-p-text(not installed)').wait()
  await page.close()
}
