import { describe, test } from 'vitest'
import { CHROMIUM } from '../testing/chromium.ts'
import { consoleOf } from '../testing/console.ts'
import { sharedStack } from '../testing/stack.ts'
import { newWorkspace } from '../testing/workspaces.ts'

describe('the console', async () => {
  if (CHROMIUM === undefined) return void test.skip('Chromium is not installed here', () => undefined)
  const description = (await sharedStack()).description()

  test('signs in with an API key, shows where there is nothing yet, and signs out', async () => {
    const { key } = await newWorkspace(description)
    const { see, click, expectUsable } = await consoleOf(description.gateway, key, '/deliveries')
    await see('No deliveries')
    await expectUsable('deliveries-empty')
    await click('Sign out')
    await see('Sign in')
    await expectUsable('login')
  })
})
