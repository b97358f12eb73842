import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, test } from 'vitest'
import { CHROMIUM } from '../testing/chromium.ts'
import { consoleOf } from '../testing/console.ts'
import { sharedStack } from '../testing/stack.ts'
import { newWorkspace } from '../testing/workspaces.ts'

const MARKUP = '<img src=x onerror=alert(1)>'
const BAD = [
  'sku,name,stock',
  'MUG,Mug,5',
  `CUP,${MARKUP},${MARKUP}`,
  `JUG,إبريق,${'few '.repeat(2500)}`,
  `BOWL,${'B'.repeat(10_000)},7`,
]

describe('imports in the console', async () => {
  if (CHROMIUM === undefined) return void test.skip('Chromium is not installed here', () => undefined)
  const description = (await sharedStack()).description()

  test('a bad file is read with its mistakes, and the corrected one is imported and undone', async () => {
    const { key, api } = await newWorkspace(description)
    const shown = await consoleOf(description.gateway, key, '/imports')
    const { page, see, click, confirm, upload, chooseFile, expectUsable } = shown
    const folder = await mkdtemp(join(tmpdir(), 'imports-'))
    whenDone(() => rm(folder, { recursive: true }))
    const client = await page.createCDPSession()
    await client.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath: folder,
      browserContextId: page.browserContext().id ?? '',
    })
    const products = async () => {
      const { body } = await api<{ items: { name: string }[] }>('GET', '/v1/products')
      return body.items.map(({ name }) => name).toSorted()
    }

    await see('No imports in the last 30 days')
    await click('Import a file')
    await see('Drop a CSV file here')
    const path = await upload('shop.csv', 'sku,name,stock')
    await click('All columns')
    await expectUsable('imports-upload')
    // Saved once more, at another second.
    await writeFile(path, BAD.join('\n'))
    await utimes(path, 1, 1)
    await click('Upload and check')
    await see('It has changed since you chose it')
    await page.click('.message.bad [aria-label=Close]')
    await chooseFile(path)
    await see('21 kB')
    await click('Upload and check')
    await see('3 of 4 rows cannot be imported. Nothing has changed yet.')
    await see('must be a whole number such as 12')
    await see(MARKUP)
    await expectUsable('imports-report')
    expect(await products()).toEqual([])

    await click('Download the bad rows')
    const bad = await eventually('the bad rows are saved', () =>
      readFile(join(folder, 'to correct shop.csv'), 'utf8').catch(() => undefined),
    )
    const corrected = bad
      .replace(`${MARKUP},${MARKUP}`, `${MARKUP},1`)
      .replace(/few (few )*/, '2')
      .replace(/B{10000}/, 'Bowl')
    await click('Upload the corrected file')
    await see('What is in it?')
    await upload('corrected.csv', corrected)
    await click('Upload and check')
    await see('3 rows can be imported. Nothing has changed yet.')
    await see('New: 3')
    await click('Import 3 rows')
    await see('All rows are imported')
    expect(await products()).toEqual([MARKUP, 'Bowl', 'إبريق'])
    await expectUsable('imports-done')

    await click('Undo the import')
    await confirm('Undo the import')
    await eventually('the products are gone', async () => (await products()).length === 0)
    await see('Put back')
    await expectUsable('imports-undone')
    await click('Imports')
    await see('corrected.csv')
    await expectUsable('imports-list')
  })
})
