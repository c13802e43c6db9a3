"""What lmfast's figures are beside those of the peers, as numbers and as lines."""

MEASURES = {
    "cold": ("cold_mb_per_s", "MB/s"),
    "warm": ("warm_mb_per_s", "MB/s"),
    "memory": ("peak_bytes", "MB"),
}


def measures(engines: dict[str, dict]) -> dict[str, dict]:
    """The ratio of lmfast to each peer, and which one is best; more is better, but for memory.

    Speeds compare where a peer was given the beginning of a text only, memory does not.
    """
    found = {}
    for measure, (key, _) in MEASURES.items():
        ratios = {
            engine: engines["lmfast"][key] / figures[key]
            for engine, figures in engines.items()
            if engine != "lmfast"
            and (measure != "memory" or figures["bytes"] == engines["lmfast"]["bytes"])
        }
        hardest = max if measure == "memory" else min
        best = hardest(ratios, key=lambda engine: ratios[engine]) if ratios else None
        found[measure] = {"ratios": ratios, "best_peer": best}
    return found


def print_rows(row: dict) -> None:
    """One line for each measure: lmfast, its ratio to the best peer, then every peer."""
    engines = row["engines"]
    other = [engine for engine, figures in engines.items() if not figures["same_ids"]]
    verdict = f"OTHER IDS: {', '.join(other)}" if other else "same ids"
    for measure, (key, unit) in MEASURES.items():
        ratios, best = row["lmfast"][measure]["ratios"], row["lmfast"][measure]["best_peer"]
        scale = 1e6 if measure == "memory" else 1
        head = f"{row['corpus']:<6} {row['job']:<5} {row['threads']:>3} {measure:<6}"
        ours = f"lmfast {engines['lmfast'][key] / scale:7.1f} {unit}"
        against = f" x {ratios[best]:.2f} of {best}" if best else ""
        peers = "".join(
            f" | {engine} {engines[engine][key] / scale:.1f} x {ratio:.2f}"
            for engine, ratio in ratios.items()
        )
        print(f"{head} {ours}{against}{peers} | {verdict}", flush=True)
