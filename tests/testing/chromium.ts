import { existsSync } from 'node:fs'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { type Browser, launch } from 'puppeteer-core'

/** Debian's Chromium, or another one in its place; undefined where there is none. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)

/** Starts a browser without a window. It ends with this process, however that ends. */
export const launchBrowser = (): Promise<Browser> =>
  launch({
    executablePath: CHROMIUM ?? '',
    // A browser on a pipe ends when the other side is gone.
    pipe: true,
    // Root has no sandbox in a container; only pages of the tests are opened.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })

/** As `launchBrowser`. It ends with the test file. */
export async function startBrowser(): Promise<Browser> {
  const browser = await launchBrowser()
  whenDone(async () => {
    await browser.close().catch(() => browser.process()?.kill('SIGKILL'))
  })
  return browser
}
