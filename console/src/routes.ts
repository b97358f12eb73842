import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { rootRoute } from './root-route.ts'

type Module = Readonly<Record<string, () => ReactNode>>

/** A page at a path, whose file is fetched when somebody goes there. */
const page = <const Path extends string, Pages extends Module>(
  path: Path,
  load: () => Promise<Pages>,
  name: keyof Pages & string,
) =>
  createRoute({
    getParentRoute: () => rootRoute,
    path,
    component: lazyRouteComponent(load, name),
    // The page of another resource begins anew: a secret that is shown, say, is of the one before.
    remountDeps: ({ params }) => params,
  })

/** The pages of operators are below one path, since they ask for another session. */
const operators = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operators',
  beforeLoad: () => {
    throw redirect({ to: '/operators/workspaces' })
  },
})

/** All pages. The console opens with the first one. */
export const pages = [
  page('/', () => import('./overview/overview-page.tsx'), 'OverviewPage'),
  page('/products', () => import('./products/products-page.tsx'), 'ProductsPage'),
  page('/products/$product', () => import('./products/product-page.tsx'), 'ProductPage'),
  page('/collections', () => import('./collections/collections-page.tsx'), 'CollectionsPage'),
  page('/collections/$collection', () => import('./collections/collection-page.tsx'), 'CollectionPage'),
  page('/customers', () => import('./customers/customers-page.tsx'), 'CustomersPage'),
  page('/customers/$customer', () => import('./customers/customer-page.tsx'), 'CustomerPage'),
  page('/orders', () => import('./orders/orders-page.tsx'), 'OrdersPage'),
  page('/orders/$id', () => import('./orders/order-page.tsx'), 'OrderPage'),
  page('/imports', () => import('./imports/imports-page.tsx'), 'ImportsPage'),
  page('/imports/new', () => import('./imports/upload-page.tsx'), 'UploadPage'),
  page('/imports/$id', () => import('./imports/import-page.tsx'), 'ImportPage'),
  page('/deliveries', () => import('./deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
  page('/deliveries/$endpoint/$delivery', () => import('./deliveries/delivery-page.tsx'), 'DeliveryPage'),
  page('/endpoints', () => import('./endpoints/endpoints-page.tsx'), 'EndpointsPage'),
  page('/endpoints/new', () => import('./endpoints/new-endpoint-page.tsx'), 'NewEndpointPage'),
  page('/endpoints/$endpoint', () => import('./endpoints/endpoint-page.tsx'), 'EndpointPage'),
  page('/endpoints/$endpoint/edit', () => import('./endpoints/edit-endpoint-page.tsx'), 'EditEndpointPage'),
  page('/apps', () => import('./apps/apps-page.tsx'), 'AppsPage'),
  page('/apps/$provider', () => import('./apps/app-page.tsx'), 'AppPage'),
  page('/apps/drafts/$draft', () => import('./apps/draft-page.tsx'), 'DraftPage'),
  operators,
  page('/operators/workspaces', () => import('./operators/workspaces/workspaces-page.tsx'), 'WorkspacesPage'),
  page('/operators/workspaces/$workspace', () => import('./operators/workspaces/workspace-page.tsx'), 'WorkspacePage'),
  page('/operators/leaks', () => import('./operators/leaks-page.tsx'), 'LeaksPage'),
  page('/operators/audit', () => import('./operators/audit/audit-page.tsx'), 'AuditPage'),
  page('/operators/system', () => import('./operators/system/system-page.tsx'), 'SystemPage'),
  page(
    '/operators/system/dead-letters/$consumer',
    () => import('./operators/system/consumer-page.tsx'),
    'ConsumerPage',
  ),
  page(
    '/operators/system/dead-letters/$consumer/$letter',
    () => import('./operators/system/letter-page.tsx'),
    'LetterPage',
  ),
  page('/operators/system/outbox/$service', () => import('./operators/system/refused-page.tsx'), 'RefusedPage'),
  page('/operators/system/checks/$check/$run', () => import('./operators/system/run-page.tsx'), 'RunPage'),
] as const
