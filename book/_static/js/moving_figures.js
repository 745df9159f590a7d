// What each moving figure shows for given settings: the functions of the same names in
// lib/lowdim/publish/site/moving_figures.py, where they are explained. The tests compare the two.
(() => {
  const { figures } = window.lowdimMoving;
  const { PI, atan, atan2, ceil, cos, exp, hypot, log, max, min, round, sin, sqrt, tan } = Math;
  const f1 = (value) => value.toFixed(1);
  const significant = (value, digits) => String(Number(value.toPrecision(digits)));
  const decimal = (value) => (Number.isInteger(value) ? value.toFixed(1) : String(value));
  const percent = (value) => `${(100 * value).toFixed(0)} %`;
  const count = (n, made) => Array.from({ length: n }, (_, k) => made(k));
  const dot = ([cx, cy]) => ({ cx, cy });
  const dots = (places, r) => {
    const ring = `a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 -${2 * r} 0`;
    return places.map(([x, y]) => `M${f1(x - r)} ${f1(y)}${ring}`).join("");
  };
  const fallingRoot = (f, low, high) => {
    for (let k = 0; k < 60; k += 1) {
      const middle = (low + high) / 2;
      if (f(middle) > 0) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  };

  figures.conserved = ({ flow }, { levels, swarm }) => {
    const on = (theta, [x, y], L) => {
      const r = exp(min(log(hypot(x, y)) + L * (log(sin(atan2(y, x))) - log(sin(theta))), 30));
      return [r * cos(theta), r * sin(theta)];
    };
    const angle = (x, from, L) => fallingRoot((a) => on(a, from, L)[0] - x, 1e-9, PI - 1e-9);
    const line = (from, L, ends, n) => {
      const [a, b] = ends.map((x) => angle(x, from, L));
      const share = (k) => (k / n) ** 2 * (3 - (2 * k) / n);
      return flow.path(count(n + 1, (k) => on(a + (b - a) * share(k), from, L)));
    };
    const family = (L, u) => {
      const parts = {};
      levels.forEach((level, k) => {
        const from = [1, level];
        const at = (x) => flow.at(...on(angle(x + u * (1 - x), from, L), from, L));
        parts[`level${k}`] = { d: line(from, L, [2.6, -1.7], 64) };
        parts[`swarm${k}`] = { d: dots(swarm[k % swarm.length].map(at), 2.6) };
      });
      return parts;
    };
    return ({ x, y, L, u }) => {
      const from = [x, y];
      const now = on(angle(x + u * (1 - x), from, L), from, L);
      const end = on(angle(1, from, L), from, L);
      const kept = y / hypot(x, y) ** (1 - 1 / L);
      const origin = flow.at(0, 0);
      const tip = flow.at(0, kept);
      return {
        parts: {
          ...family(L, u),
          line: { d: line(from, L, [x, 1], 120) },
          normal: { d: flow.path([[now[0], 0], now]) },
          kept: {
            d: `M${origin.map(f1).join(" ")}L${tip.map(f1).join(" ")}m-5.5 9l5.5 -9l5.5 9`,
          },
          begin: dot(flow.at(x, y)),
          grip: dot(flow.at(x, y)),
          limit: dot(flow.at(...end)),
          now: dot(flow.at(...now)),
        },
        values: {
          L: L.toFixed(0),
          u: percent(u),
          begin: `(${x.toFixed(2)}, ${y.toFixed(2)})`,
          now: now[1].toFixed(2),
          limit: end[1].toFixed(2),
          kept: kept.toFixed(2),
        },
        command: "lowdim run embedded/theorem_2_4" + (L >= 2 ? ` -p 'depths=[${L}]'` : ""),
        call:
          "from lowdim.embedded.flows import normal_limit; " +
          `print(normal_limit((${x.toFixed(2)})**2, (${y.toFixed(2)})**2, 1, ${L})**0.5)`,
      };
    };
  };

  figures.tangent = ({ cloud, ratio }, { a, o, spread }) => ({ q, c }) => {
    const beside = sqrt(1 - c * c);
    const theta = 0.5 * atan2(2 * q * c, 1 - q * q);
    const most = atan(q);
    const places = a.map((along, k) =>
      cloud.at(spread * along, spread * q * (c * along + beside * o[k])),
    );
    const [edge, seen] = [most, theta].map((t) => [1.16 * cos(t), 1.16 * sin(t)]);
    const side = (s) => cloud.path([[0, 0], [s * edge[0], edge[1]], [s * edge[0], -edge[1]]]) + "Z";
    const curve = count(97, (k) => [k / 80, 0.5 * atan2((2 * k * c) / 80, 1 - (k / 80) ** 2)]);
    const steep = curve.filter(([, t]) => t <= atan(1.2)).map(([p, t]) => [p, tan(t)]);
    return {
      parts: {
        wedge: { d: q >= 1 ? "" : side(1) + side(-1) },
        dots: { d: dots(places, 3.5) },
        seen: { d: cloud.path([[-seen[0], -seen[1]], seen]) },
        curve: { d: ratio.path(steep) },
        bound: dot(ratio.at(q, min(q, 1.2))),
        measured: dot(ratio.at(q, min(tan(min(theta, 1.5)), 1.2))),
      },
      values: {
        q: q.toFixed(2),
        c: c.toFixed(2),
        angle: `${((theta * 180) / PI).toFixed(1)}°`,
        bound: q < 1 ? `${((most * 180) / PI).toFixed(1)}°` : "none",
      },
      command: "lowdim run preserve/theorem_3_1",
      call:
        "from lowdim.linalg.subspaces import principal_rows; " +
        `print(principal_rows([[1, ${(q * c).toFixed(4)}], [0, ${(q * beside).toFixed(4)}]], 1))`,
    };
  };

  figures.shrinkage = ({ plane }, { moments }) => ({ L, lam: power }) => {
    const lam = 10 ** power;
    const height = L > 1 ? (L - 2) / (L - 1) : 0;
    const ratio = L === 1 ? 0 : L === 2 ? 1 : 1 / ((1 - height) * height ** (1 - 2 / L));
    const keep = (m) => {
      if (L === 1) return m / (m + lam);
      if (m < ratio * lam) return 0;
      if (L === 2) return max(0, 1 - lam / m);
      return fallingRoot((t) => m * (1 - t) * t ** (1 - 2 / L) - lam, height, 1);
    };
    const [low, high] = plane.x;
    const bottom = plane.box[3];
    const edge = min(max(ratio * lam, low), high);
    const first = L === 1 ? low : edge;
    const along = count(121, (k) => first * exp((log(high / first) * k) / 120));
    const curve = plane.path(along.map((m) => [m, keep(m * (1 + 1e-9))]));
    const shares = moments.map(keep);
    const at = moments.map((m, k) => plane.at(m, shares[k]));
    const [x, y] = plane.at(edge, height);
    return {
      parts: {
        stems: { d: at.map(([u, v]) => `M${f1(u)} ${bottom}V${f1(v)}`).join("") },
        edge: { d: L > 2 ? `M${f1(x)} ${bottom}V${f1(y)}` : "" },
        curve: { d: (L > 1 ? plane.path([[low, 0], [edge, 0]]) : "") + curve },
        dots: { d: dots(at, 5) },
      },
      values: {
        L: String(L),
        lam: significant(lam, 3),
        rank: `${shares.filter((t) => t > 0).length} of ${moments.length}`,
        edge: L === 1 ? "none" : significant(ratio * lam, 3),
        jump: L < 3 ? "none" : `0 → ${height.toFixed(2)}`,
      },
      command: "lowdim run collapse/deep_linear",
      call:
        "from lowdim.collapse.linear import shrinkage; " +
        `print(shrinkage([${moments.map(decimal).join(", ")}], ${significant(lam, 4)}, ${L}))`,
    };
  };

  figures.wait = ({ plane }, { depths }) => {
    // The time from eps to 1.5 eps, dr / (L r^(2 - 2/L) (1 - r)): Simpson's rule in log r.
    const time = (eps, L) => {
      const n = 40;
      const h = log(1.5) / n;
      const f = (k) => {
        const r = eps * exp(k * h);
        return 1 / (L * r ** (1 - 2 / L) * (1 - r));
      };
      const sum = count(n + 1, (k) => f(k) * (k % n === 0 ? 1 : k % 2 ? 4 : 2));
      return (sum.reduce((p, q) => p + q) * h) / 3;
    };
    return ({ k, L: place }) => {
      const eps = 10 ** -k;
      const L = depths[place];
      const points = count(121, (i) => 300 ** (i / 120)).map((depth) => [depth, time(eps, depth)]);
      const peak = points.reduce((best, p) => (p[1] > best[1] ? p : best));
      const now = plane.at(L, time(eps, L));
      return {
        parts: {
          curve: { d: plane.path(points) },
          drop: { d: `M${f1(now[0])} ${plane.box[3]}V${f1(now[1])}` },
          peak: dot(plane.at(...peak)),
          now: dot(now),
        },
        values: {
          k: significant(eps, k === round(k) ? 1 : 2),
          L: String(L),
          time: significant(time(eps, L), 3),
          peak: peak[0].toFixed(0),
          rule: (2 * k * log(10)).toFixed(1),
        },
        command: `lowdim run embedded/theorem_2_3 -p radii=${max(3, ceil(k))}`,
        call:
          "from lowdim.embedded.origin import least_time; " +
          `print(least_time(${significant(eps, 3)}, ${L}, 1, -1))`,
      };
    };
  };

  figures.threshold = ({ plane }) => ({ rho, t: power }) => {
    const t = 10 ** power;
    const hits = (s) => 2 / (2 + max(sqrt(rho - 2) - sqrt(s), 0) ** 2);
    const best = rho ** 2 / (4 * (rho - 2));
    const both = 1 - (1 - 4 / rho) ** 2;
    const miss = min(1, 2 / t);
    return {
      parts: {
        hits: { d: plane.path(count(161, (k) => 200 ** (k / 160)).map((s) => [s, hits(s)])) },
        cut: { d: `M${f1(plane.at(t, 0)[0])} ${plane.box[3]}V${plane.box[1]}` },
        miss: dot(plane.at(t, miss)),
        hit: dot(plane.at(t, hits(t))),
        best: dot(plane.at(best, both)),
      },
      values: {
        rho: rho.toFixed(0),
        t: significant(t, 3),
        miss: percent(miss),
        hit: percent(hits(t)),
        best: significant(best, 3),
        both: percent(both),
      },
      command: `lowdim run hashing/theorem_5 -p rho_shown=${rho.toFixed(1)}`,
      call:
        "from lowdim.hashing.oneshot import bound, false_hits, threshold; " +
        `print(false_hits(${rho}, ${significant(t, 4)}), threshold(${rho}), bound(${rho}))`,
    };
  };

  figures.noise = ({ plane }) => ({ rho, tau }) => {
    const room = sqrt(rho - 2);
    const end = (room - sqrt(2)) / 2;
    const bound = (t) => min(1, 1 - (1 - 4 / (2 + (room - 2 * t) ** 2)) ** 2);
    const both = tau < end ? bound(tau) : 1;
    const here = plane.at(tau, both);
    const last = plane.at(end, 1);
    const [, , right, bottom] = plane.box;
    return {
      parts: {
        shade: { d: `M${f1(last[0])} ${bottom}V${f1(plane.at(0, 1)[1])}H${right}V${bottom}Z` },
        curve: { d: plane.path(count(121, (k) => (end * k) / 120).map((t) => [t, bound(t)])) },
        drop: { d: `M${f1(here[0])} ${bottom}V${f1(here[1])}` },
        end: dot(last),
        now: dot(here),
      },
      values: {
        rho: rho.toFixed(0),
        tau: tau.toFixed(2),
        left: significant(2 + max(room - 2 * tau, 0) ** 2, 3),
        both: tau < end ? percent(both) : "none",
        end: end.toFixed(2),
      },
      command: "lowdim run bridge/four_instruments",
      call:
        "from lowdim.bridge.noisy import effective; " +
        `print(effective(${rho.toFixed(0)}, ${min(tau, room / 2).toFixed(4)}))`,
    };
  };
})();
