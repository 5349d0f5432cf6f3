import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const FAMILY = 'Layout test'
/** Archivo has widths from 62% to 125%. Installed fonts differ between machines, so the font comes from npm. */
const fontFile = await readFile(
  fileURLToPath(import.meta.resolve('@fontsource-variable/archivo/files/archivo-latin-wdth-normal.woff2')),
  'base64',
)

/** The fonts in which a page must fit. The spacing of the wide one is that of WCAG 2.2, 1.4.12 Text Spacing. */
const FONTS: Readonly<Record<string, string>> = {
  browser: '',
  narrow: `* { font-family: '${FAMILY}' !important; font-stretch: 62% !important; }`,
  wide: `* { font-family: '${FAMILY}' !important; font-stretch: 125% !important;
    letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }`,
}

/* These run in the page. The content security policy allows fonts from memory and constructed style sheets. */

const IS_REGISTERED = `[...document.fonts].some(font => font.family.includes('${FAMILY}'))`

const REGISTER = `(async () => {
  const bytes = Uint8Array.from(atob('${fontFile}'), char => char.charCodeAt(0))
  const font = new FontFace('${FAMILY}', bytes, { weight: '100 900', stretch: '62% 125%' })
  document.fonts.add(await font.load())
})()`

const FIND_OVERFLOW = `(async fonts => {
  const sheet = new CSSStyleSheet()
  const before = [...document.adoptedStyleSheets]
  const found = {}
  document.adoptedStyleSheets = [...before, sheet]
  for (const [font, css] of Object.entries(fonts)) {
    sheet.replaceSync(css)
    await document.fonts.ready
    if (document.documentElement.scrollWidth <= innerWidth) continue
    const beyond = [...document.querySelectorAll('body *')].filter(
      element => element.getBoundingClientRect().right > innerWidth + 0.5,
    )
    // Others are beyond it because they hold the widest, or stand behind it.
    const [outermost = document.body] = beyond
    const inner = [...outermost.querySelectorAll('*')].filter(element => element.children.length === 0)
    const text = new Range()
    const widthOf = element => {
      // The head of a column is as wide as its widest cell, its text is not.
      text.selectNodeContents(element)
      return (element.hasChildNodes() ? text : element).getBoundingClientRect().width
    }
    const [widest = outermost] = inner.sort((one, other) => widthOf(other) - widthOf(one))
    found[font] = [Math.round(widthOf(widest)) + ' px', widest.outerHTML.slice(0, 200)]
  }
  document.adoptedStyleSheets = before
  return found
})(${JSON.stringify(FONTS)})`

/** Fails if the page scrolls horizontally in one of the fonts, and names the widest element of what is beyond the viewport. */
export async function expectNoHorizontalScroll(page: Page): Promise<void> {
  if (!(await page.evaluate(IS_REGISTERED))) await page.evaluate(REGISTER)
  expect(await page.evaluate(FIND_OVERFLOW), `${page.url()} at ${page.viewportSize()?.width} px, by font`).toEqual({})
}
