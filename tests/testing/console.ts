import { mkdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { whenDone } from '@backoffice/testing/when-done.ts'
import axe from 'axe-core'
import type { Browser, Page } from 'puppeteer-core'
import { expect } from 'vitest'
import { startBrowser } from './chromium.ts'

/** Where pictures of the pages go; no pictures are taken unless it is set. */
const SHOTS = process.env.CONSOLE_SHOTS
const WIDTHS = [375, 1280]
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

/** The console with cookies of its own, signed in with an API key or an operator's token. */
export async function consoleOf(gateway: string, credential: string, start = '/') {
  const shown = await aSession(gateway)
  await shown.open(start)
  await shown.fill('API key', credential)
  await shown.click('Sign in')
  await shown.see('Sign out')
  return shown
}

/** The console with cookies of its own, opened by a one-time link. */
export async function consoleBy(link: string) {
  const { origin } = new URL(link)
  const shown = await aSession(origin)
  await shown.page.goto(link)
  await shown.click('Open the console')
  await shown.see('Sign out')
  return shown
}

/** The browser, until the test ends that has started it; each session of the console has cookies of its own in it. */
let started: Browser | undefined

async function aSession(gateway: string) {
  if (!started?.connected) started = await startBrowser()
  const context = await started.createBrowserContext()
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy/.test(message.text())) errors.push(message.text())
  })
  page.setDefaultTimeout(60_000)
  await page.setViewport({ width: 1280, height: 900 })
  return {
    page,
    open: (path: string) => page.goto(`${gateway}/console${path}`),
    /** Waits for a text on the page. */
    see: (text: string) => see(page, text),
    /** Clicks the button or link of a name. */
    click: (name: string) => click(page, name),
    /** Clicks the button of a name in the dialog that is open. */
    confirm: (name: string) => click(page, name, '//dialog'),
    /** Types into the field of a label. */
    fill: (label: string, text: string) => fill(page, label, text),
    /** Chooses a file, written to a folder that goes with the test. Returns its path. */
    upload: (name: string, content: string) => upload(page, name, content),
    chooseFile: (path: string) => chooseFile(page, path),
    text: () => page.evaluate('document.body.innerText') as Promise<string>,
    /** Expects a page that everybody can use: axe finds nothing, nothing is wider than the screen, no script failed. */
    async expectUsable(name: string): Promise<void> {
      for (const width of WIDTHS) {
        await page.setViewport({ width, height: 900 })
        await page.evaluate('new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))')
        if (SHOTS) await takePicture(page, SHOTS, `${name}-${width}`)
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        expect(overflow, `${name} is wider than ${width} px`).toBeLessThanOrEqual(0)
      }
      await page.evaluate(axe.source)
      const found = (await page.evaluate(
        `axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) => violations)`,
      )) as readonly Violation[]
      expect(found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
      expect(errors).toEqual([])
    },
  }
}

async function takePicture(page: Page, folder: string, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }])
    await page.screenshot({ path: join(folder, `${name}-${theme}.png`), fullPage: true })
  }
  await page.emulateMediaFeatures([])
}

async function upload(page: Page, name: string, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'console-'))
  whenDone(() => rm(folder, { recursive: true }))
  const path = join(folder, name)
  await writeFile(path, content)
  await chooseFile(page, path)
  await see(page, name)
  return path
}

async function chooseFile(page: Page, path: string): Promise<void> {
  const input = await page.waitForSelector('input[type=file]')
  // The types of the DOM, which name this element's kind, are not those of tests.
  await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(path)
}

/** Says what the page shows when something does not come. */
const orShow = <Result>(page: Page, what: string, coming: Promise<Result>): Promise<Result> =>
  coming.catch(async (cause) => {
    throw new Error(`${what} does not come; the page shows:\n${await page.evaluate('document.body.innerText')}`, {
      cause,
    })
  })

const see = async (page: Page, text: string): Promise<void> => {
  await orShow(page, text, page.locator(`::-p-text(${text})`).setEnsureElementIsInTheViewport(false).wait())
}

const click = (page: Page, name: string, within = ''): Promise<void> => {
  const path = `${within}//*[self::button or self::a or self::summary][normalize-space()="${name}"]`
  return orShow(page, name, page.locator(`::-p-xpath(${path})`).click())
}

const TYPED = 99

/** A long text comes at once, as from the clipboard: of a value that is only set React learns nothing. */
const fill = async (page: Page, label: string, text: string): Promise<void> => {
  const field = page.locator(`::-p-aria([name="${label}"])`)
  if (text.length <= TYPED) return void (await orShow(page, label, field.fill(text)))
  await orShow(page, label, field.click())
  await page.evaluate('document.activeElement.select()')
  await page.keyboard.sendCharacter(text)
}
