import type postgres from 'postgres'

/** The largest answer of a service that one workspace may have. */
export interface LargestAnswer {
  readonly service: string
  readonly what: string
  /** A small request of another workspace. */
  readonly small: string
  /** Makes the rows of a workspace. Resolves with the path of the answer, and the bytes that it has at least. */
  prepare(tx: postgres.TransactionSql, workspaceId: string): Promise<{ path: string; bytes: number; items?: number }>
}

/** A price in 50 currencies, which are as many as there may be. */
const PRICES = JSON.stringify(
  Object.fromEntries(
    Array.from({ length: 50 }, (_, n) => [`X${String.fromCharCode(65 + (n % 26), 65 + (n >> 4))}`, 450_000 + n]),
  ),
)

/** Products of 2,048 variants, whose records are almost as large as they may be (OP-120). */
const PRODUCTS = 5

export const LARGEST_ANSWERS: readonly LargestAnswer[] = [
  {
    service: 'orders',
    what: '100 orders of 1,000 lines',
    small: '/v1/orders?limit=1',
    async prepare(tx, workspaceId) {
      await tx`
        with new_order as materialized (
          insert into sales_order (
            workspace_id, id, order_number, status, payment_status, fulfillment_status, currency, subtotal_price,
            total_shipping, total_tax, total_discount, total_price, total_items, order_datetime, created_at, updated_at
          )
          select ${workspaceId}::uuid, uuidv7(), 'N' || n, 'CART', 'UNPAID', 'UNFULFILLED', 'EUR', 100, 0, 0, 0, 100, 1000,
            now(), now(), now()
          from generate_series(1, 100) as n
          returning id
        )
        insert into order_item (
          workspace_id, order_id, position, id, variant_id, title, sku, quantity, unit_price, total_price
        )
        select ${workspaceId}::uuid, new_order.id, n - 1, uuidv7(), uuidv7(), repeat('x', 150), 'SKU-' || n, 1, 100, 100
        from new_order, generate_series(1, 1000) as n`
      return { path: '/v1/orders?limit=100', bytes: 30_000_000, items: 100 }
    },
  },
  {
    service: 'catalog',
    what: 'products of 2,048 variants in 50 currencies',
    small: '/v1/products?limit=1',
    async prepare(tx, workspaceId) {
      await tx`
        with new_product as materialized (
          insert into product (
            workspace_id, id, name, slug, type, status, requires_shipping, can_preorder, created_at, updated_at
          )
          select ${workspaceId}::uuid, uuidv7(), 'Shirt', 'shirt-' || n, 'VARIABLE_PRODUCT', 'ACTIVE', true, false, now(), now()
          from generate_series(1, ${PRODUCTS}::int) as n
          returning id
        )
        insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
        select ${workspaceId}::uuid, uuidv7(), new_product.id, new_product.id || repeat('x', 200) || n, 1,
          ${PRICES}::text::jsonb, '{}', jsonb_build_object(gen_random_uuid(), repeat('y', 255), 'n', n), n
        from new_product, generate_series(1, 2048) as n`
      return { path: `/v1/products?limit=${PRODUCTS}`, bytes: 10_000_000, items: PRODUCTS }
    },
  },
  {
    service: 'collections',
    what: '100 collections with the longest texts',
    small: '/v1/collections?limit=1',
    async prepare(tx, workspaceId) {
      await tx`
        insert into collection (
          workspace_id, id, handle, name, description, seo_description, sort_order, membership_type, published, created_at, updated_at
        )
        select ${workspaceId}::uuid, uuidv7(), 'c-' || n, 'Collection', repeat('é', 65536), repeat('"', 65536), 'MANUAL',
          'MANUAL', true, now(), now()
        from generate_series(1, 100) as n`
      return { path: '/v1/collections?limit=100', bytes: 20_000_000, items: 100 }
    },
  },
  {
    service: 'collections',
    what: 'products of 2,048 variants in a collection',
    small: '/v1/collections?limit=1',
    async prepare(tx, workspaceId) {
      await tx`
        with new_collection as (
          insert into collection (workspace_id, id, handle, name, sort_order, membership_type, published, created_at, updated_at)
          values (${workspaceId}::uuid, uuidv7(), 'large', 'Large', 'CREATED_ASC', 'MANUAL', true, now(), now())
          returning id
        ), version as (
          insert into membership_version (workspace_id, collection_id, source, sort_order, state)
          select ${workspaceId}::uuid, id, 'HAND_PICKED', 'CREATED_ASC', 'CURRENT' from new_collection
          returning number
        ), variants as materialized (
          select json_agg(json_build_object(
            'id', gen_random_uuid(), 'sku', 'SKU-' || n, 'stock', 1, 'price', ${PRICES}::text::json,
            'attributes', json_build_object(gen_random_uuid(), n)
          )) as body
          from generate_series(1, 2048) as n
        ), new_product as materialized (
          insert into product (
            workspace_id, id, version, name, skus, type, status, categories, tags, prices, costs, stock, requires_shipping,
            can_preorder, created_at, body
          )
          select ${workspaceId}::uuid, uuidv7(), 1, 'Shirt', '', 'VARIABLE_PRODUCT', 'ACTIVE', '{}', '{}', '{}', '{}', 1, true,
            false, now(), json_build_object('id', uuidv7(), 'name', 'Shirt', 'variants', body)
          from generate_series(1, 20) as n, variants
          returning id
        ), counted as (
          insert into collection_member_count (workspace_id, version_number, available)
          select ${workspaceId}::uuid, number, 20 from version
        )
        insert into collection_member (workspace_id, version_number, product_id, position, sort_key, is_available)
        select ${workspaceId}::uuid, number, id, 1, id::text, true from new_product, version`
      return { path: '/v1/collections/large/products?limit=20', bytes: 20_000_000, items: 20 }
    },
  },
  {
    service: 'imports',
    what: 'a report of 1,000 errors',
    small: '/v1/imports?limit=1',
    async prepare(tx, workspaceId) {
      const [row] = await tx<[{ id: string }]>`
        with new_import as (
          insert into import (
            workspace_id, id, template, file, bytes, sha256, encoding, livemode, product_statuses, status, invalid_rows,
            created_at, updated_at
          )
          values (
            ${workspaceId}::uuid, uuidv7(), 'products', 'products.csv', 1, '', 'utf-8', true, '{}', 'INVALID', 1000, now(), now()
          )
          returning id
        )
        insert into import_finding (workspace_id, import_id, errors, diff)
        select ${workspaceId}::uuid, id, (
          select json_agg(json_build_object(
            'row', n, 'column', 'name', 'code', 'bad_request', 'message', 'is too long', 'value', repeat('é', 2048)
          )) from generate_series(2, 1001) as n
        ), '{}' from new_import
        returning import_id as id`
      return { path: `/v1/imports/${row.id}/errors`, bytes: 4_000_000 }
    },
  },
  {
    service: 'webhook-delivery',
    what: 'a delivery with 26 attempts',
    small: '/v1/webhooks?limit=1',
    async prepare(tx, workspaceId) {
      const [row] = await tx<[{ endpoint: string; id: string }]>`
        with new_endpoint as (
          insert into endpoint (workspace_id, id, url, enabled_events, secret_key_id, sealed_secret, created_at, updated_at)
          values (${workspaceId}::uuid, uuidv7(), 'https://receiver.example/', '{*}', 'none', '', now(), now())
          returning id
        ), new_event as (
          insert into event (workspace_id, id, type, key, body, occurred_at)
          select ${workspaceId}::uuid, uuidv7(), 'product.updated', 'key',
            (select string_agg(md5(n::text), '"') from generate_series(1, 200000) as n), now()
          returning id
        ), new_delivery as (
          insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, status, attempts_made, created_at)
          select ${workspaceId}::uuid, new_endpoint.id, uuidv7(), new_event.id, 'product.updated', 'FAILED', 6, now()
          from new_endpoint, new_event
          returning endpoint_id, id
        )
        insert into attempt (
          workspace_id, delivery_id, number, started_at, duration_ms, request_url, request_headers, response_status,
          response_headers, response_body, response_truncated
        )
        select ${workspaceId}::uuid, id, n, now(), 1, 'https://receiver.example/', '{}', 500, '{}',
          convert_to(repeat('"no"', 16384), 'UTF8'), false
        from new_delivery, generate_series(1, 26) as n
        returning (select endpoint_id from new_delivery) as endpoint, delivery_id as id`
      return { path: `/v1/webhooks/${row.endpoint}/deliveries/${row.id}`, bytes: 3_000_000 }
    },
  },
  {
    service: 'webhook-delivery',
    what: '100 endpoints with the longest descriptions',
    small: '/v1/webhooks?limit=1',
    async prepare(tx, workspaceId) {
      await tx`
        insert into endpoint (
          workspace_id, id, url, enabled_events, description, secret_key_id, sealed_secret, created_at, updated_at
        )
        select ${workspaceId}::uuid, uuidv7(), 'https://receiver.example/', '{}', repeat('é', 65536), 'none', '', now(), now()
        from generate_series(1, 100)`
      return { path: '/v1/webhooks?limit=100', bytes: 12_000_000, items: 100 }
    },
  },
  {
    service: 'apps',
    what: '100 apps',
    small: '/v1/apps?limit=1',
    async prepare(tx, workspaceId) {
      const manifest = JSON.stringify({
        provider: 'p',
        scopes: ['product::read'],
        embed: `/${'x'.repeat(500)}`,
        webhooks: { path: `/${'x'.repeat(500)}`, events: Array(60).fill('product.updated') },
      })
      await tx`
        with new_app as (
          insert into app (id, provider, origin, manifest, created_at, updated_at)
          select uuidv7(), ${workspaceId} || n, 'https://app.example', ${manifest}::text::jsonb, now(), now()
          from generate_series(1, 100) as n
          returning id
        )
        insert into installation (workspace_id, id, app_id, livemode, workspace_name, state, manifest, created_at)
        select ${workspaceId}::uuid, uuidv7(), id, true, 'Shop', 'ACTIVE', ${manifest}::text::jsonb, now() from new_app`
      return { path: '/v1/apps?limit=100', bytes: 200_000, items: 100 }
    },
  },
]
