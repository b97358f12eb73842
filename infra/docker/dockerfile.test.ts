import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { expect, it } from 'vitest'
import { IMAGES, ROOT, workspacesOf } from './workspaces.ts'

const dockerfile = readFileSync(join(import.meta.dirname, 'Dockerfile'), 'utf8')
const stages = new Map(
  dockerfile
    .split(/^(?=FROM )/m)
    .slice(1)
    .map((text) => [/ AS (\S+)/.exec(text)?.[1] ?? '', text]),
)

it('there is an image for each service, one for the one-shot commands, and one for operators', () => {
  expect(IMAGES).toEqual([...SERVICE_NAMES, 'jobs', 'operator'].toSorted())
})

it.each(IMAGES)('the image of %s is the tree that assemble.ts makes, run by a user without rights', (image) => {
  expect(stages.get(`${image}-tree`)).toContain(`node infra/docker/assemble.ts ${image} /app`)
  expect(stages.get(image)).toContain(`FROM runtime AS ${image}\nCOPY --from=${image}-tree /app /app`)
  expect(stages.get(image)).not.toContain('USER')
  expect(stages.get('runtime')).toContain('USER 10001:10001')
})

const context = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')

it.each(IMAGES)('the build has the packages of the image of %s', (image) => {
  const packages = workspacesOf(image).map(({ directory }) => directory)
  expect(packages.filter((directory) => context.includes(directory))).toEqual([])
})

it('the build has the console and what the console is compiled with', () => {
  expect(context).toEqual(expect.arrayContaining(['!console', '!tsconfig.base.json']))
})

it('the images have the Node of the tests', () => {
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const versions = [...dockerfile.matchAll(/^FROM node:([\d.]+)-bookworm-slim /gm)].map(([, version]) => version)
  expect(new Set(versions)).toEqual(new Set([devDependencies.node]))
})
